#pragma once

#include "tesela/cli/number_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/geo/fit.hpp"
#include "tesela/geo/matrix_storage.hpp"
#include "tesela/geo/rank_sample.hpp"
#include "tesela/geo/tile_accuracy.hpp"
#include "tesela/io/csv.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tesela::autoplan {
class RunningPlan;
}

namespace tesela::cli {

/// Where observations or points come from.
struct DataOptions {
    std::string file;
    std::vector<std::string> coordinates;
    std::string value;
    NaPolicy na = NaPolicy::error;
};

/// What is subtracted from the values first.
enum class Center : std::uint8_t { none, mean };

/// Which model, as the user writes it.
struct ModelOptions {
    CovarianceFamily family = CovarianceFamily::matern;
    Metric metric = Metric::euclidean;
    geo::TrendFormula trend = geo::Trend::none;
    geo::Estimation estimation = geo::Estimation::ml;
    Center center = Center::none;
    std::vector<std::string> theta;
    std::vector<std::string> fix;
    std::vector<std::string> lower;
    std::vector<std::string> upper;
    std::vector<std::string> start;
    double jitter = 0;
};

/// How the covariance matrix is stored: with all its elements, compressed to an accuracy, or as suits its size.
enum class Method : std::uint8_t { exact, tlr, automatic };

/// What the commands on Gaussian processes share.
struct GeoOptions {
    RunOptions run;
    DataOptions data;
    ModelOptions model;
    geo::OverlapChoice overlap{};
    std::string plan;  ///< file, or "auto"
    double plan_budget = 10;
    Method method = Method::exact;
    std::optional<double> accuracy{};  ///< of compressed tiles, relative to sigma2
    std::optional<Index> band{};       ///< of tiles that are stored whole
    std::optional<double> refine{};    ///< residuals of solutions, against the true matrix
    bool single = false;               ///< columns of U and V, where the accuracy allows it
    bool tune = false;                 ///< tile and band by speeds that are measured now
    /// Where the matrix is compressed and its tile or band are not given: what its ranks are like. See resolve_method.
    std::shared_ptr<const geo::RankSample> ranks{};
    double sample_seconds = 0;  ///< what sampling ranks took
    std::string output;
};

/// add_trend_option() for whoever keeps the text.
CLI::Option* trend_option(CLI::App& command, const std::function<void(const std::string&)>& keep,
                          const std::string& help);

/// Whether a file's values are wanted beside its coordinates.
enum class Reads : std::uint8_t { points, observations };
/// Adds the file, --coords, --na and, for observations, --value.
void add_data_options(CLI::App& command, DataOptions& options, Reads what);
/// Adds --family, --metric and --jitter.
void add_covariance_options(CLI::App& command, ModelOptions& options);
/// Adds --trend, which takes the name of a trend or a formula. `trend` is a TrendFormula or an optional one.
template <class Value>
CLI::Option* add_trend_option(CLI::App& command, Value& trend, const std::string& help) {
    return trend_option(
        command, [&trend](const std::string& text) { trend = geo::TrendFormula::parse(text); }, help);
}
/// Adds --trend, --estimation and --center.
void add_mean_options(CLI::App& command, ModelOptions& options, geo::Trend default_trend);
/// Adds --theta.
void add_theta_option(CLI::App& command, ModelOptions& options);
/// Adds --fix, --start, --lower and --upper.
void add_parameter_options(CLI::App& command, ModelOptions& options);
/// Adds --overlap.
void add_overlap_option(CLI::App& command, geo::OverlapChoice& overlap);
/// Adds --json, --tile, --dist, --overlap and the options of the engine, under the headings Output and Machine: what
/// stands under Output is to be added before.
void add_run_options(CLI::App& command, GeoOptions& options);
/// Whether a command evaluates once, by a plan that is there, or many times, so that it may also plan itself.
enum class Plans : std::uint8_t { of_a_file, of_its_own_too };
/// Adds --plan, which takes the place of --tile and --dist, and --plan-budget where `auto` is one.
void add_plan_option(CLI::App& command, GeoOptions& options, Plans plans);
/// Adds --accuracy, --band or --refine, with what geo::validate lets them be: the numbers may be optional.
template <class Number>
CLI::Option* add_accuracy_option(CLI::App& command, Number& accuracy, const std::string& help) {
    return at_least(command.add_option("--accuracy", accuracy, help), 0.0);
}
template <class Number>
CLI::Option* add_band_option(CLI::App& command, Number& band, const std::string& help) {
    return at_least(command.add_option("--band", band, help), Index{1});
}
template <class Number>
CLI::Option* add_refine_option(CLI::App& command, Number& refine, const std::string& help) {
    return at_least(command.add_option("--refine", refine, help), geo::least_refinement);
}
/// Adds --method, --accuracy, --band, --refine, --single and --tune.
void add_method_options(CLI::App& command, GeoOptions& options);
/// Where the options leave method, tile or band to the program, those that earlier work had.
void take_cut(const geo::MatrixStorage& storage, GeoOptions& options);
/// The same with accuracy, refinement and precision.
void take_storage(const geo::MatrixStorage& storage, GeoOptions& options);
/// Makes `auto` one of the others, and says why; and samples ranks where the matrix is compressed. `theta`: none before
/// a fit. Throws Error where options contradict each other.
void resolve_method(GeoOptions& options, const geo::Observations& observations, const geo::Model& model,
                    const std::optional<CovarianceParameters>& theta, std::vector<std::string>& notes);
/// What compression came to after a good evaluation, and how the matrix was cut for it, as results; empty where there
/// is none. A traced run says only how it was cut: a trace is of the evaluation alone.
[[nodiscard]] Json compression_json(geo::Likelihood& likelihood, const RunOptions& run);
/// The same in a line.
[[nodiscard]] std::string describe_compression(const Json& compression);
/// The method that a likelihood is evaluated by: "exact" or "tlr".
[[nodiscard]] std::string_view method_name(const geo::Likelihood& likelihood);
/// Whether --plan auto was asked for.
[[nodiscard]] bool plans_by_itself(const GeoOptions& options);
/// The plan that this asks for, for n observations; none otherwise. Every node calls it; the first says what was
/// chosen.
[[nodiscard]] std::unique_ptr<autoplan::RunningPlan> plan_for_nodes(const GeoOptions& options, Index n,
                                                                    StarpuEngine& engine);

/// The engine that the options ask for, with the critical worker that the last step of --overlap means.
[[nodiscard]] std::unique_ptr<StarpuEngine> start_geo_engine(const GeoOptions& options);
/// The step that was asked for, or that `auto` came to on this node when the engine started.
[[nodiscard]] geo::Overlap overlap_of(geo::OverlapChoice choice, const StarpuEngine& engine);
/// Tile size, distribution and overlap for n observations, with the owners of a plan for these nodes if there is one.
[[nodiscard]] geo::LikelihoodOptions likelihood_options(const GeoOptions& options, Index n, StarpuEngine& engine,
                                                        const autoplan::RunningPlan* plan = nullptr);

/// What to tell the user on stderr when it is known which node speaks.
using Notes = std::vector<std::string>;
void print_notes(const Engine& engine, const Notes& notes);

/// What is read of a file: columns of numbers, and those that a trend uses beside coordinates, as numbers or as text.
struct WantedColumns {
    std::vector<std::string> numbers;
    std::vector<std::string> numeric_covariates{};
    std::vector<std::string> text_covariates{};
};
/// The rows that have all of it.
struct SelectedRows {
    NumericTable numbers;  ///< without the covariates
    std::vector<geo::Covariate> covariates;
};
/// Missing values as --na says; notes say how many rows were dropped.
[[nodiscard]] SelectedRows select_rows(const CsvTable& file, const DataOptions& options, const WantedColumns& wanted,
                                       Notes& notes);
/// Coordinates, and covariates as a model has them.
[[nodiscard]] WantedColumns columns_of_places(const std::vector<std::string>& coordinates,
                                              const std::vector<geo::Covariate>& covariates);

/// The observations of a file, with the columns that the trend uses; notes say how many rows were dropped for missing
/// values, and whether degrees are taken for lengths. Throws Error about coordinates that the metric does not have.
[[nodiscard]] geo::Observations read_observations(const DataOptions& options, Notes& notes,
                                                  const ModelOptions& model = {});
/// The places of a file, with covariates such as these.
[[nodiscard]] geo::Sites read_points(const DataOptions& options, Notes& notes, Metric metric = Metric::euclidean,
                                     const std::vector<geo::Covariate>& covariates = {});

/// Family, metric, trend, choices of parameters and known mean. Throws Error too if the observations do not determine
/// the trend.
[[nodiscard]] geo::Model model_of(const ModelOptions& options, const geo::Observations& observations);
/// The parameters of --theta. Throws Error naming those that are missing; the nugget is 0 unless given.
[[nodiscard]] CovarianceParameters theta_of(const ModelOptions& options);

/// The options as they were resolved, for model files.
[[nodiscard]] Json configuration_json(const GeoOptions& options, const geo::LikelihoodOptions& resolved,
                                      const Engine& engine);

/// Throws Error now if a file could not be written later.
void require_writable(const std::string& path);

}  // namespace tesela::cli
