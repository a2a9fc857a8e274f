#include "tesela/cli/commands.hpp"

#include "tesela/base/error.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/column_options.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/places.hpp"
#include "tesela/geo/model_comparison.hpp"
#include "tesela/geo/prediction_loss.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace tesela::cli {
namespace {

struct CompareCommand {
    GeoOptions geo;  ///< its file holds the places
    GridOptions grid;
    std::vector<std::string> models;
    geo::PredictionOf variance = geo::PredictionOf::observation;

    [[nodiscard]] bool wants_loss() const { return !geo.data.file.empty() || !grid.cells.empty(); }
};

std::vector<geo::FittedModel> read_models(const std::vector<std::string>& files) {
    std::vector<geo::FittedModel> models;
    for (const std::string& file : files) {
        try {
            models.push_back(geo::read_model(file));
        } catch (const Error& error) {
            if (file.ends_with(".csv"))
                throw Error("{}; compare takes models, and places to predict after --loss", error.what());
            throw;
        }
    }
    return models;
}

geo::LikelihoodOptions exact_matrix(const CompareCommand& options, Index n, StarpuEngine& engine) {
    return resolve_together(options.geo, {.observations = n}, engine).likelihood;
}

/// Computed again, on the machine that compares: a file's may be older than its parameters.
void evaluate(const CompareCommand& options, std::vector<geo::FittedModel>& models, StarpuEngine& engine) {
    constexpr double noticeable = 1e-6;
    Stream stream(engine, {.sums = Sums::in_order});
    for (std::size_t m = 0; m < models.size(); ++m) {
        geo::FittedModel& fitted = models[m];
        geo::Likelihood likelihood(stream, fitted.observations, fitted.model,
                                   exact_matrix(options, fitted.observations.size(), engine));
        const double said = fitted.result.log_likelihood;
        const double found = geo::evaluate_well(likelihood, fitted.result.theta).log_likelihood;
        if (std::abs(found - said) > noticeable * (1 + std::abs(found)) && engine.is_first())
            fmt::print(stderr, "warning: {} says that its log-likelihood is {:.10g}; at its parameters it is {:.10g}\n",
                       options.models[m], said, found);
        fitted.result.log_likelihood = found;
    }
}

/// What is printed of one model.
struct Row {
    std::string file;
    const geo::FittedModel& fitted;
    geo::ComparedModel compared;
    std::optional<geo::PredictionLoss> loss{};
};

std::vector<Row> rows_of(const CompareCommand& options, const std::vector<geo::FittedModel>& models) {
    const std::vector<geo::ComparedModel> compared = geo::compare(models, options.models);
    std::vector<Row> rows;
    for (std::size_t m = 0; m < models.size(); ++m)
        rows.push_back({.file = options.models[m], .fitted = models[m], .compared = compared[m]});
    return rows;
}

Json to_json(const std::vector<Row>& rows, std::size_t places) {
    Json models = Json::array();
    for (const Row& row : rows) {
        const geo::ComparedModel& c = row.compared;
        Json json{{"model", row.file},
                  {"family", name(row.fitted.model.family)},
                  {"trend", row.fitted.model.trend.text()},
                  {"estimation", name_in(geo::estimation_names, row.fitted.model.estimation)},
                  {"loglik", c.log_likelihood},
                  {"parameters", c.parameters},
                  {"aic", c.criteria.aic},
                  {"bic", c.criteria.bic},
                  {"aic_difference", c.difference.aic},
                  {"bic_difference", c.difference.bic},
                  {"weight", c.weight}};
        if (row.loss) json.update(Json{{"mloe", row.loss->mloe}, {"mmom", row.loss->mmom}, {"rmom", row.loss->rmom}});
        models.push_back(std::move(json));
    }
    const geo::Observations& data = rows.front().fitted.observations;
    Json json{{"n", data.size()}, {"value", data.value_name}, {"models", std::move(models)}};
    if (places > 0) json["places"] = places;
    return json;
}

std::size_t widest(const std::vector<Row>& rows) {
    std::size_t width = std::string("model").size();
    for (const Row& row : rows) width = std::max(width, row.file.size());
    return width;
}

void print_criteria(const std::vector<Row>& rows) {
    const geo::Observations& data = rows.front().fitted.observations;
    fmt::print("{} models of {} observations of {}\n", rows.size(), data.size(), data.value_name);
    const std::size_t width = widest(rows);
    std::size_t trends = std::string("constant").size();
    for (const Row& row : rows) trends = std::max(trends, row.fitted.model.trend.text().size());
    fmt::print("{:<{}} {:<20} {:<{}} {:>11} {:>10} {:>10} {:>9} {:>10} {:>9} {:>7}\n", "model", width, "covariance",
               "trend", trends, "loglik", "parameters", "AIC", "dAIC", "BIC", "dBIC", "weight");
    for (const Row& row : rows) {
        const geo::ComparedModel& c = row.compared;
        fmt::print("{:<{}} {:<20} {:<{}} {:>11.4f} {:>10} {:>10.3f} {:>9.3f} {:>10.3f} {:>9.3f} {:>7.4f}\n", row.file,
                   width, name(row.fitted.model.family), row.fitted.model.trend.text(), trends, c.log_likelihood,
                   c.parameters, c.criteria.aic, c.difference.aic, c.criteria.bic, c.difference.bic, c.weight);
    }
}

void print_losses(const std::vector<Row>& rows, std::size_t places) {
    fmt::print("\nif {} is the truth, predictions at {} places by\n", rows.front().file, places);
    const std::size_t width = widest(rows);
    fmt::print("{:<{}} {:>11} {:>11} {:>11}\n", "model", width, "MLOE", "MMOM", "RMOM");
    for (const Row& row : rows)
        if (row.loss)
            fmt::print("{:<{}} {:>11.4g} {:>11.4g} {:>11.4g}\n", row.file, width, row.loss->mloe, row.loss->mmom,
                       row.loss->rmom);
}

void print_report(const CompareCommand& options, const std::vector<Row>& rows, std::size_t places) {
    if (!options.geo.run.quiet)
        for (const Row& row : rows)
            for (const std::string& doubt : geo::doubts(row.fitted, row.file)) fmt::print(stderr, "note: {}\n", doubt);
    if (options.geo.run.json) {
        fmt::print("{}\n", to_json(rows, places).dump(2));
        return;
    }
    print_criteria(rows);
    if (places > 0) print_losses(rows, places);
}

Places places_of(const CompareCommand& options, const geo::FittedModel& truth, Notes& notes) {
    if (!options.grid.cells.empty()) return grid_places(options.grid, truth);
    geo::DataFile data = options.geo.data;
    if (data.coordinates.empty()) data.coordinates = truth.observations.coordinate_names;
    return file_places(data, {.columns = {"none"}}, truth, notes);
}

/// The others are compared at the first model's observations, in its order.
void add_losses(const CompareCommand& options, const std::vector<geo::FittedModel>& models, const Places& places,
                std::vector<Row>& rows, StarpuEngine& engine) {
    Stream stream(engine, {.sums = Sums::in_order});
    const geo::Observations observations = geo::with_all_covariates(models);
    geo::FittedModel truth = models.front();
    truth.observations = observations;
    const auto likelihood_of = [&](const geo::FittedModel& fitted) {
        return std::make_unique<geo::Likelihood>(stream, observations, fitted.model,
                                                 exact_matrix(options, truth.observations.size(), engine));
    };
    const auto true_likelihood = likelihood_of(truth);
    for (std::size_t m = 1; m < models.size(); ++m) {
        const auto likelihood = likelihood_of(models[m]);
        rows[m].loss = geo::prediction_loss(geo::prediction_errors({*true_likelihood, truth}, {*likelihood, models[m]},
                                                                   places.sites(), {.of = options.variance}));
    }
}

int run_compare(const CompareCommand& options) {
    if (!options.geo.data.file.empty() && !options.grid.cells.empty())
        throw Error("say where predictions are compared: --loss FILE or --grid, one of them");
    std::vector<geo::FittedModel> models = read_models(options.models);
    (void)geo::compare(models, options.models);  // refused before anything is computed
    Notes notes;
    if (!options.grid.cells.empty())
        for (const geo::FittedModel& fitted : models) require_coordinates_suffice(fitted, "--grid");
    geo::FittedModel with_covariates = models.front();
    if (options.wants_loss()) with_covariates.observations = geo::with_all_covariates(models);
    std::optional<Places> places;
    if (options.wants_loss()) places = places_of(options, with_covariates, notes);
    if (places && places->coordinates.front().empty()) throw Error("{} has no points", options.geo.data.file);
    const auto engine = start_geo_engine(options.geo.run);
    print_notes(*engine, notes);
    evaluate(options, models, *engine);
    std::vector<Row> rows = rows_of(options, models);
    if (places) add_losses(options, models, *places, rows, *engine);
    if (engine->is_first()) print_report(options, rows, places ? places->coordinates.front().size() : 0);
    return success;
}

void add_loss_options(CLI::App& command, CompareCommand& options) {
    auto* loss = command
                     .add_option("--loss", options.geo.data.file,
                                 "CSV file of places: what predictions there by the other models lose if the first is "
                                 "the truth (MLOE, MMOM)")
                     ->type_name("FILE");
    add_columns_option(command, "--coords", options.geo.data.coordinates,
                       "Columns of its coordinates (default: as in the first model)")
        ->needs(loss);
    add_choice(command, "--na", options.geo.data.na, na_policy_names, "What becomes of rows with a missing value")
        ->needs(loss);
    add_grid_options(command, options.grid);
    add_choice(command, "--variance", options.variance, geo::prediction_of_names,
               "Errors of predictions of what: a new observation, nugget included, or the field without noise");
}

void add_compare_options(CLI::App& command, CompareCommand& options) {
    command.add_option("models", options.models, "Models that tesela fit wrote, two or more")->required()->expected(-1);
    set_heading(command, "Data");
    add_loss_options(command, options);
    set_heading(command, "Predictions");
    add_run_options(command, options.geo);
    add_example(command, "tesela compare matern.json exponential.json --loss data/meuse_grid.csv");
}

}  // namespace

Command compare_command() {
    return command("compare", "Models of the same data: AIC, BIC, and what predictions lose", add_compare_options,
                   run_compare);
}

}  // namespace tesela::cli
