#include "tesela/cli/geo_options.hpp"

#include "tesela/algs/compressed_cut.hpp"
#include "tesela/autoplan/running_plan.hpp"
#include "tesela/base/digest.hpp"
#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/in_parallel.hpp"
#include "tesela/base/units.hpp"
#include "tesela/cli/all_specimens.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/column_options.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/plan_use.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/geo/degrees.hpp"
#include "tesela/geo/planning.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/kernels/dense.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <system_error>
#include <utility>

namespace tesela::cli {
namespace {

using geo::Parameter;

struct Assignment {
    Parameter parameter;
    double value;
};

/// "range=200" of an option.
Assignment parse_assignment(const std::string& option, const std::string& text) {
    const auto equals = text.find('=');
    const auto value = equals == std::string::npos ? std::nullopt : number_in<double>(text.substr(equals + 1));
    if (!value) throw Error("{} takes NAME=NUMBER, as range=0.1; \"{}\" is not of that form", option, text);
    return {geo::parse_parameter(text.substr(0, equals)), *value};
}

/// The assignments of an option, each parameter at most once.
std::vector<Assignment> parse_assignments(const std::string& option, const std::vector<std::string>& texts) {
    std::vector<Assignment> assignments;
    for (const std::string& text : texts) {
        const Assignment next = parse_assignment(option, text);
        for (const Assignment& earlier : assignments)
            if (earlier.parameter == next.parameter)
                throw Error("{} gives {} twice, {} and {}", option, name(next.parameter), earlier.value, next.value);
        assignments.push_back(next);
    }
    return assignments;
}

constexpr Names<Center, 2> center_names{{{Center::none, "none"}, {Center::mean, "mean"}}};

using ChoiceMember = std::optional<double> geo::ParameterChoice::*;

void apply(geo::Model& model, const std::string& option, const std::vector<std::string>& texts, ChoiceMember member) {
    for (const auto& [parameter, value] : parse_assignments(option, texts)) model.choice(parameter).*member = value;
}

void add_assignments(CLI::App& command, const std::string& option, std::vector<std::string>& into,
                     const std::string& help) {
    comma_separated(command.add_option(option, into, help))->type_name("NAME=NUMBER,…");
}

void note_dropped(const NumericTable& table, const std::vector<std::string>& columns, const std::string& file,
                  Notes& notes) {
    if (table.rows_dropped == 0) return;
    std::string by_column;
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (table.missing[c] > 0)
            by_column += fmt::format("{}{} in {}", by_column.empty() ? "" : ", ", table.missing[c], columns[c]);
    notes.push_back(fmt::format("{}: {} of {} rows dropped for missing values ({})", file, table.rows_dropped,
                                table.rows_read, by_column));
}

/// As numbers, or as text if a column has no numbers or the formula says that it is a factor.
WantedColumns columns_of_trend(const CsvTable& file, const DataOptions& options, const geo::TrendFormula& trend) {
    WantedColumns wanted{.numbers = options.coordinates};
    wanted.numbers.push_back(options.value);
    for (const std::string& column : covariate_names(trend, options.coordinates)) {
        const CsvContent content = file.content(column);
        const bool is_text =
            content == CsvContent::text || (content == CsvContent::mixed && trend.is_declared_factor(column));
        (is_text ? wanted.text_covariates : wanted.numeric_covariates).push_back(column);
        if (is_text || content == CsvContent::numbers) continue;
        try {
            (void)file.numbers({column}, NaPolicy::drop);
        } catch (const Error& error) {
            throw Error("{}; if {} is a factor, write factor({}) in --trend", error.what(), column, column);
        }
    }
    return wanted;
}

void set_owners(geo::LikelihoodOptions& options, const plan::PhaseDistributions& owners) {
    options.distribution = owners.second;
    options.generation = owners.first;
}

/// Tile size and owners in both phases as a plan has them.
geo::LikelihoodOptions planned_options(const GeoOptions& options, Index n, StarpuEngine& engine) {
    if (plans_by_itself(options))
        throw Error("--plan auto is for tesela fit, which evaluates often: give a file of tesela plan here");
    const plan::Plan plan = read_plan_for(engine, options.plan, "geo", n);
    geo::LikelihoodOptions result{.tile = plan.tile, .overlap = overlap_of(options.overlap, engine)};
    if (result.overlap < geo::Overlap::priorities && engine.this_node() == NodeId{0} && !options.run.quiet)
        fmt::print(stderr, "note: {} counts on priorities ({}), which --overlap {} has not\n", options.plan,
                   plan.priorities, geo::name(result.overlap));
    set_owners(result, plan.distributions);
    return result;
}

}  // namespace

void add_data_options(CLI::App& command, DataOptions& options, Reads what) {
    command.add_option("file", options.file, "CSV file with a header; - is standard input")->required();
    add_columns_option(command, "--coords", options.coordinates,
                       "Columns of the coordinates, one to three, as x,y or lon,lat (longitude first); a name with a "
                       "comma in it is quoted as in the file: '\"east, m\",north'")
        ->required();
    if (what == Reads::observations)
        command.add_option("--value", options.value, "Column of the observed values")->required();
    add_choice(command, "--na", options.na, na_policy_names,
               "What becomes of rows with a missing value (empty, NA, NaN): error (the command ends) or drop");
}

void add_covariance_options(CLI::App& command, ModelOptions& options) {
    add_choice(command, "--family", options.family, covariance_family_names, "Covariance; see below");
    add_choice(command, "--metric", options.metric, metric_names,
               fmt::format("Distances: euclidean, or for lon,lat in degrees chordal or great_circle, in km on a sphere "
                           "of radius {} km",
                           earth_radius_km));
    at_least(command.add_option(
                 "--jitter", options.jitter,
                 "Added to the diagonal of the covariance matrix, as a fraction of sigma2; never added unasked"),
             0.0)
        ->capture_default_str();
    std::string conventions = "Covariances of two observations at distance r:";
    for (const auto& [family, text] : covariance_family_names)
        conventions += fmt::format("\n  {}: {}", text, convention(family));
    command.footer(conventions);
}

CLI::Option* trend_option(CLI::App& command, const std::function<void(const std::string&)>& keep,
                          const std::string& help) {
    const auto complaint = [](const std::string& text) -> std::string {
        try {
            (void)geo::TrendFormula::parse(text);
            return {};
        } catch (const Error& error) {
            return error.what();
        }
    };
    return command.add_option_function<std::string>("--trend", keep, help)
        ->check(CLI::Validator(complaint, ""))
        ->type_name("none|constant|linear|FORMULA");
}

void add_mean_options(CLI::App& command, ModelOptions& options, geo::Trend default_trend) {
    options.trend = default_trend;
    add_trend_option(command, options.trend,
                     "Mean of the field: none, constant, linear in the coordinates, or a formula of columns in R's "
                     "manner, as '~ sqrt(dist) + soil' (text is a factor); its coefficients are estimated")
        ->default_str(options.trend.text());
    add_choice(command, "--estimation", options.estimation, geo::estimation_names,
               "Likelihood: of the observations (ml), or restricted to what does not depend on the trend (reml)");
    add_choice(command, "--center", options.center, center_names,
               "Instead of a trend: mean (subtract the sample mean; needs --trend none), or none");
}

void add_theta_option(CLI::App& command, ModelOptions& options) {
    comma_separated(
        command.add_option("--theta", options.theta,
                           "Parameters: sigma2, range, smoothness where the family has one, nugget (0 unless given)"))
        ->type_name("NAME=NUMBER,…")
        ->required();
}

void add_parameter_options(CLI::App& command, ModelOptions& options) {
    add_assignments(command, "--fix", options.fix,
                    "Parameters that are held at these values and not estimated, as nugget=0");
    add_assignments(command, "--start", options.start, "Where the search begins (default: from the data)");
    add_assignments(command, "--lower", options.lower, "Lower bounds (default: from the data)");
    add_assignments(command, "--upper", options.upper, "Upper bounds (default: from the data)");
}

void add_overlap_option(CLI::App& command, geo::OverlapChoice& overlap) {
    add_choice(command, "--overlap", overlap, geo::overlap_choice_names,
               "How far the phases of an evaluation overlap, from sync (not at all); each step adds to those before "
               "it; auto: oversubscribe on nodes with 64 cores or more, otherwise order");
}

void add_run_options(CLI::App& command, GeoOptions& options) {
    add_json_option(command, options.run);
    set_heading(command, "Output");
    add_tiling_options(command, options.run);
    add_overlap_option(command, options.overlap);
    add_engine_options(command, options.run);
    command.get_option("--quiet")->group("Output");
    set_heading(command, "Machine");
}

void add_plan_option(CLI::App& command, GeoOptions& options, Plans plans) {
    const bool own = plans == Plans::of_its_own_too;
    auto* plan = command
                     .add_option("--plan", options.plan,
                                 own ? "Owners of tiles in each phase: a file of tesela plan, or auto, which measures "
                                       "the nodes, plans, and corrects the plan while the fit runs"
                                     : "Tile size and owners of tiles in each phase, as tesela plan wrote them")
                     ->type_name(own ? "FILE|auto" : "FILE")
                     ->excludes("--tile")
                     ->excludes("--dist")
                     ->group("Machine");
    if (!own) return;
    at_least(command.add_option("--plan-budget", options.plan_budget, "Seconds that --plan auto may look for a plan"),
             0.0)
        ->capture_default_str()
        ->needs(plan)
        ->group("Machine");
}

void add_method_options(CLI::App& command, GeoOptions& options) {
    static constexpr Names<Method, 3> names{
        {{Method::exact, "exact"}, {Method::tlr, "tlr"}, {Method::automatic, "auto"}}};
    add_choice(command, "--method", options.method, names,
               "exact: all elements of the covariance matrix are stored; tlr: tiles of low rank, to --accuracy; auto: "
               "what takes less work, judged by some of its tiles");
    add_accuracy_option(command, options.accuracy,
                        "With tlr: what a tile may differ from the true one, in the Frobenius norm, relative to sigma2 "
                        "(default: 1e-9)");
    add_band_option(command, options.band,
                    "With tlr: so many diagonals of tiles, from the main one on, are stored whole (default: as some "
                    "tiles make it look best)");
    add_refine_option(
        command, options.refine,
        "With tlr: improve solutions against the true matrix, of which nothing is stored, until residuals "
        "are this small, as 1e-10: means of predictions and coefficients are then exact to that, whatever "
        "--accuracy is");
    command.add_flag(
        "--single", options.single,
        "With tlr: store what the accuracy allows of U and V in single precision, which takes less memory");
    command.add_flag("--tune", options.tune,
                     "With tlr: choose tile and band by how fast this machine is measured to be now, and say them; "
                     "otherwise by usual speeds, so that the same command gives the same digits");
}

namespace {

constexpr const char* compressed_plan =
    "--plan auto is for exact matrices: give a file of tesela plan --ranks for compressed ones";

bool is_compressed(const GeoOptions& options) { return options.method == Method::tlr; }

bool leaves_tile(const GeoOptions& options) { return options.plan.empty() && is_automatic_tile(options.run.tile); }

double accuracy_of(const GeoOptions& options) { return options.accuracy.value_or(geo::TileAccuracy{}.accuracy); }

/// Whether a compressed matrix pays for so many evaluations, with the reason. All nodes must come to the same, and so
/// should all runs: measured speeds do not count.
bool compression_pays(const geo::RankSample& ranks, Index n, double evaluations, std::string& reason) {
    constexpr double clearly_less = 0.8;
    const double sampling = ranks.work_over_dense() / evaluations;
    const double cost = ranks.usual_cost_over_dense() + sampling;
    const bool pays = cost < clearly_less;
    reason = fmt::format(
        "--method auto: {}, since by the ranks of {} tiles generation, compression and factorisation of {} "
        "observations "
        "take about {:.2g} of the work of exact ones, {:.2g} of it to sample these (tlr is taken below {:.1g})",
        pays ? "tlr" : "exact", ranks.sampled(), n, cost, sampling, clearly_less);
    return pays;
}

/// With tiles of this size, if it is not 0. Where arithmetic differs in the last digit nodes may differ in sampled
/// ranks, and measured speeds differ anyhow: the first decides.
void compress(geo::LikelihoodOptions& result, const GeoOptions& options, StarpuEngine& engine, Index tile) {
    CompressedCut cut{.tile = tile, .band = options.band.value_or(0)};
    if (options.ranks)
        cut = engine.broadcast(options.ranks->cheapest_cut({engine.total_workers(), engine.node_count()}, cut));
    if (options.tune && engine.this_node() == NodeId{0})
        fmt::print(stderr, "note: tuned to this machine; for the same digits again: --tile {} --band {}\n", cut.tile,
                   cut.band);
    result.tile = cut.tile;
    result.compression =
        geo::TileAccuracy{.accuracy = accuracy_of(options),
                          .band = cut.band,
                          .refine = options.refine.value_or(0),
                          .precision = options.single ? FactorPrecision::as_needed : FactorPrecision::full};
}

}  // namespace

void take_cut(const geo::MatrixStorage& storage, GeoOptions& options) {
    const bool compressed = storage.compression.has_value();
    if (options.method == Method::automatic) options.method = compressed ? Method::tlr : Method::exact;
    if (is_compressed(options) != compressed) return;
    if (options.tune) return;  // which chooses tile and band anew
    if (leaves_tile(options)) options.run.tile = fmt::format("{}", storage.tile);
    if (compressed && !options.band) options.band = storage.compression->band;
}

void take_storage(const geo::MatrixStorage& storage, GeoOptions& options) {
    take_cut(storage, options);
    if (!storage.compression || !is_compressed(options)) return;
    const geo::TileAccuracy& its = *storage.compression;
    if (!options.accuracy) options.accuracy = its.accuracy;
    if (!options.refine && its.refine > 0) options.refine = its.refine;
    if (its.precision == FactorPrecision::as_needed) options.single = true;
}

void resolve_method(GeoOptions& options, const geo::Observations& observations, const geo::Model& model,
                    const std::optional<CovarianceParameters>& theta, std::vector<std::string>& notes) {
    constexpr Index worth_a_look = 4000;  // an exact evaluation takes less than a second below
    const Index n = observations.size();
    if (options.method == Method::exact) {
        for (const auto& [given, name] :
             {std::pair(options.accuracy.has_value(), "--accuracy"), std::pair(options.band.has_value(), "--band"),
              std::pair(options.refine.has_value(), "--refine"), std::pair(options.single, "--single"),
              std::pair(options.tune, "--tune")})
            if (given) throw Error("{} is of compressed matrices: give --method tlr, or auto, with it", name);
        return;
    }
    if (options.method == Method::automatic && n < worth_a_look) {
        options.method = Method::exact;
        notes.push_back(fmt::format("--method auto: exact, since there are fewer than {} observations{}", worth_a_look,
                                    options.tune ? ", so that --tune has nothing to choose" : ""));
        return;
    }
    const bool is_planned = plans_by_itself(options);
    if (options.method == Method::tlr && is_planned) throw Error(compressed_plan);
    // A single evaluation that is told all need not sample.
    const bool told_all = options.band && !is_automatic_tile(options.run.tile);
    if (options.tune && told_all) throw Error("--tune chooses tile and band, and both are given");
    if (options.method == Method::tlr && theta && told_all) return;
    // As engines do: blocks are small, and threads of BLAS would wait for each other.
    set_blas_threads(1);
    reserve_blas_memory(static_cast<int>(threads_or_cores(options.run.workers)));
    const auto start = std::chrono::steady_clock::now();
    const auto ranks = std::make_shared<geo::RankSample>(geo::sample_ranks(
        observations, model, accuracy_of(options), theta,
        {.threads = options.run.workers, .speeds = options.tune ? geo::Speeds::measured : geo::Speeds::usual}));
    options.sample_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options.method == Method::automatic) {
        std::string reason;
        options.method =
            compression_pays(*ranks, n, geo::expected_evaluations(theta), reason) ? Method::tlr : Method::exact;
        notes.push_back(std::move(reason));
    }
    if (options.method == Method::exact) return;
    if (is_planned) throw Error(compressed_plan);
    options.ranks = ranks;
}

Json compression_json(geo::Likelihood& likelihood, const RunOptions& run) {
    const auto& compression = likelihood.options().compression;
    if (!compression) return {};
    if (!run.trace.empty())
        return {{"accuracy", compression->accuracy}, {"tile", likelihood.options().tile}, {"band", compression->band}};
    const geo::CompressionReport report = geo::report_compression(likelihood);
    Json result{{"accuracy", report.asked},          {"reached", report.reached},
                {"tile", likelihood.options().tile}, {"band", likelihood.options().compression->band},
                {"bytes", report.ranks.bytes},       {"dense_bytes", report.ranks.dense_bytes},
                {"rank_mean", report.ranks.mean},    {"rank_max", report.ranks.largest},
                {"tiles", report.ranks.tiles},       {"compressed_tiles", report.ranks.compressed}};
    if (report.refined)
        result["refinement"] = {{"iterations", report.refined->iterations},
                                {"residual", report.refined->residual},
                                {"converged", report.refined->converged}};
    return result;
}

std::string describe_compression(const Json& compression) {
    const auto number = [&](const char* key) { return compression.at(key).get<double>(); };
    const auto band = compression.at("band").get<Index>();
    const std::string cut =
        fmt::format("compressed: tiles of {}, {} of sigma2, {} whole", compression.at("tile").get<Index>(),
                    number("accuracy") > 0 ? fmt::format("to {:.0e}", number("accuracy")) : "to rounding",
                    band == 1 ? "the diagonal" : fmt::format("{} diagonals", band));
    if (!compression.contains("reached")) return cut + "; ranks are in the trace: tesela trace ranks";
    const auto largest = compression.at("rank_max").get<Index>();
    const auto ranks = [&]() -> std::string {
        if (number("compressed_tiles") == 0) return "no tile is compressed";
        if (largest == 0) return "compressed tiles are 0 to that accuracy";
        return fmt::format("ranks {:.1f} on average, {} at most", number("rank_mean"), largest);
    };
    std::string text = fmt::format("{}; ||S - L*L'|| = {:.1e} of it; {} instead of {}; {}", cut, number("reached"),
                                   format_bytes(number("bytes")), format_bytes(number("dense_bytes")), ranks());
    if (!compression.contains("refinement")) return text;
    const Json& refined = compression.at("refinement");
    const auto iterations = refined.at("iterations").get<Index>();
    return fmt::format("{}\nrefined: residuals of solutions {} {:.1e} after {} iteration{}", text,
                       refined.at("converged").get<bool>() ? "are" : "did not become small enough and are",
                       refined.at("residual").get<double>(), iterations, iterations == 1 ? "" : "s");
}

std::string_view method_name(const geo::Likelihood& likelihood) {
    return likelihood.options().compression ? "tlr" : "exact";
}

bool plans_by_itself(const GeoOptions& options) { return options.plan == "auto"; }

std::unique_ptr<autoplan::RunningPlan> plan_for_nodes(const GeoOptions& options, Index n, StarpuEngine& engine) {
    if (!plans_by_itself(options)) return {};
    const auto line = std::make_shared<ProgressLine>(wants_progress(options.run));
    const geo::PlannedEvaluation evaluation{
        .points = n,
        .tile = tile_size(options.run, n, engine),
        .overlap = options.overlap || options.run.critical_worker == CriticalWorker::none
                       ? options.overlap
                       : geo::Overlap::oversubscribe};
    autoplan::RunningPlanOptions with{
        .program = {.application = planned_evaluation(evaluation),
                    .as_run = [evaluation](const Platform& nodes) { return as_run(evaluation, nodes); },
                    .usual_evaluations = geo::usual_evaluations},
        .budget_seconds = options.plan_budget,
        .specimens = all_specimens(),
        .cache_folder = user_cache_folder()};
    with.measuring = [line](Index done, Index of, const std::string& next) { line->show_bar(done, of, next); };
    with.planning = [line](Index simulated, double best) {
        line->show([&] { return fmt::format("plan: {} simulated, best {}", simulated, format_seconds(best)); });
    };
    if (!options.run.quiet)
        with.tell = [line](const std::string& text) {
            line->clear();
            fmt::print(stderr, "plan: {}\n", text);
        };
    return std::make_unique<autoplan::RunningPlan>(engine, std::move(with));
}

std::unique_ptr<StarpuEngine> start_geo_engine(const GeoOptions& options) {
    RunOptions run = options.run;
    if (run.critical_worker == CriticalWorker::none) run.critical_worker = geo::critical_worker(options.overlap);
    return start_engine(run);
}

geo::Overlap overlap_of(geo::OverlapChoice choice, const StarpuEngine& engine) {
    return choice.value_or(engine.description().critical_worker ? geo::Overlap::oversubscribe : geo::Overlap::order);
}

geo::LikelihoodOptions likelihood_options(const GeoOptions& options, Index n, StarpuEngine& engine,
                                          const autoplan::RunningPlan* plan) {
    Digest storage;
    storage.add(std::vector{is_compressed(options) ? 1.0 : 0.0, accuracy_of(options),
                            static_cast<double>(options.band.value_or(0)), options.refine.value_or(0),
                            options.single ? 1.0 : 0.0});
    engine.require_alike("--method, --accuracy, --band, --refine and --single", storage.value());
    if (plan == nullptr && !options.plan.empty()) {
        geo::LikelihoodOptions planned = planned_options(options, n, engine);
        if (is_compressed(options)) compress(planned, options, engine, planned.tile);
        return planned;
    }
    geo::LikelihoodOptions result{.tile = tile_size(options.run, n, engine),
                                  .overlap = overlap_of(options.overlap, engine)};
    if (is_compressed(options))
        compress(result, options, engine, is_automatic_tile(options.run.tile) ? 0 : result.tile);
    if (plan != nullptr) {
        set_owners(result, plan->owners());
        return result;
    }
    result.distribution = distribution(options.run, Tiling::square(n, result.tile).grid(), engine, Operation::cholesky);
    return result;
}

void print_notes(const Engine& engine, const Notes& notes) {
    if (engine.this_node() != NodeId{0}) return;
    for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
}

SelectedRows select_rows(const CsvTable& file, const DataOptions& options, const WantedColumns& wanted, Notes& notes) {
    require_different_columns(options.coordinates, options.value);
    std::vector<std::string> columns = wanted.numbers;
    columns.insert(columns.end(), wanted.numeric_covariates.begin(), wanted.numeric_covariates.end());
    SelectedRows rows{.numbers = file.numbers(columns, options.na, wanted.text_covariates), .covariates = {}};
    const std::size_t plain = wanted.numbers.size();
    for (std::size_t c = plain; c < columns.size(); ++c)
        rows.covariates.push_back({.name = columns[c], .values = std::move(rows.numbers.columns[c])});
    rows.numbers.columns.resize(plain);
    for (const std::string& name : wanted.text_covariates) {
        std::vector<std::string> texts;
        const Index column = file.column(name);
        for (const Index row : rows.numbers.rows) texts.emplace_back(file.field(row, column));
        rows.covariates.push_back({.name = name, .values = std::move(texts)});
    }
    columns.insert(columns.end(), wanted.text_covariates.begin(), wanted.text_covariates.end());
    note_dropped(rows.numbers, columns, options.file, notes);
    return rows;
}

WantedColumns columns_of_places(const std::vector<std::string>& coordinates,
                                const std::vector<geo::Covariate>& covariates) {
    WantedColumns wanted{.numbers = coordinates};
    for (const geo::Covariate& covariate : covariates)
        (covariate.is_text() ? wanted.text_covariates : wanted.numeric_covariates).push_back(covariate.name);
    return wanted;
}

geo::Observations read_observations(const DataOptions& options, Notes& notes, const ModelOptions& model) {
    require_response(model.trend, options.value);
    const CsvTable file = read_csv(options.file);
    SelectedRows rows = select_rows(file, options, columns_of_trend(file, options, model.trend), notes);
    NumericTable& table = rows.numbers;
    geo::Observations observations{.coordinates = {},
                                   .values = std::move(table.columns.back()),
                                   .coordinate_names = options.coordinates,
                                   .value_name = options.value,
                                   .file = options.file,
                                   .lines = std::move(table.lines),
                                   .covariates = std::move(rows.covariates)};
    table.columns.pop_back();
    observations.coordinates = std::move(table.columns);
    const geo::CoordinateColumns coordinates{observations.coordinates, options.coordinates, observations.lines,
                                             options.file};
    geo::require_degrees(model.metric, coordinates);
    if (std::string text = geo::explain_euclidean_degrees(model.metric, coordinates); !text.empty())
        notes.push_back(std::move(text));
    geo::validate(observations);
    return observations;
}

geo::Sites read_points(const DataOptions& options, Notes& notes, Metric metric,
                       const std::vector<geo::Covariate>& covariates) {
    SelectedRows rows =
        select_rows(read_csv(options.file), options, columns_of_places(options.coordinates, covariates), notes);
    geo::require_degrees(metric, {rows.numbers.columns, options.coordinates, rows.numbers.lines, options.file});
    geo::Sites sites(std::move(rows.numbers.columns), std::move(rows.covariates));
    sites.file = options.file;
    sites.lines = std::move(rows.numbers.lines);
    return sites;
}

geo::Model model_of(const ModelOptions& options, const geo::Observations& observations) {
    geo::Model model{
        .family = options.family, .metric = options.metric, .trend = options.trend, .estimation = options.estimation};
    if (options.center == Center::mean) model.center = observations.mean();
    model.jitter = options.jitter;
    apply(model, "--fix", options.fix, &geo::ParameterChoice::fixed);
    apply(model, "--start", options.start, &geo::ParameterChoice::start);
    apply(model, "--lower", options.lower, &geo::ParameterChoice::lower);
    apply(model, "--upper", options.upper, &geo::ParameterChoice::upper);
    geo::validate(model);
    (void)geo::TrendBasis(model.trend, observations);  // says what is wrong with it before anything is computed
    return model;
}

CovarianceParameters theta_of(const ModelOptions& options) {
    const CovarianceFamily family = options.family;
    std::array<std::optional<double>, geo::all_parameters.size()> given{};
    given[static_cast<std::size_t>(Parameter::nugget)] = 0;
    for (const auto& [parameter, value] : parse_assignments("--theta", options.theta)) {
        if (!geo::uses(family, parameter))
            throw Error("--theta: the family {} has no {}", name(family), name(parameter));
        given[static_cast<std::size_t>(parameter)] = value;
    }
    CovarianceParameters theta;
    for (const Parameter p : geo::all_parameters) {
        const auto& value = given[static_cast<std::size_t>(p)];
        if (!value && geo::uses(family, p)) throw Error("--theta lacks {} for the family {}", name(p), name(family));
        if (value) geo::value_of(theta, p) = *value;
    }
    validate(family, theta, options.metric);
    return theta;
}

Json configuration_json(const GeoOptions& options, const geo::LikelihoodOptions& resolved, const Engine& engine) {
    return {{"na", name_in(na_policy_names, options.data.na)},
            {"center", name_in(center_names, options.model.center)},
            {"fix", options.model.fix},
            {"start", options.model.start},
            {"lower", options.model.lower},
            {"upper", options.model.upper},
            {"dist", options.run.distribution},
            {"overlap", geo::name(resolved.overlap)},
            {"overlap_asked", name_in(geo::overlap_choice_names, options.overlap)},
            {"nodes", engine.node_count()},
            {"workers", engine.worker_count()}};
}

void require_writable(const std::string& path) { const OutputFile probe(path); }

}  // namespace tesela::cli
