#pragma once

#include "tesela/apps/geo/fit.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/io/csv.hpp"

#include <string>
#include <vector>

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
    geo::Trend trend = geo::Trend::none;
    Center center = Center::none;
    std::vector<std::string> theta;
    std::vector<std::string> fix;
    std::vector<std::string> lower;
    std::vector<std::string> upper;
    std::vector<std::string> start;
    double jitter = 0;
};

/// What the commands on Gaussian processes share.
struct GeoOptions {
    RunOptions run;
    DataOptions data;
    ModelOptions model;
    geo::OverlapChoice overlap{};
    std::string output;
};

/// Whether a file's values are wanted beside its coordinates.
enum class Reads : std::uint8_t { points, observations };
/// Adds the file, --coords, --na and, for observations, --value.
void add_data_options(CLI::App& command, DataOptions& options, Reads what);
/// Adds --family, --metric and --jitter.
void add_covariance_options(CLI::App& command, ModelOptions& options);
/// Adds --trend and --center.
void add_mean_options(CLI::App& command, ModelOptions& options, geo::Trend default_trend);
/// Adds --theta.
void add_theta_option(CLI::App& command, ModelOptions& options);
/// Adds --fix, --start, --lower and --upper.
void add_parameter_options(CLI::App& command, ModelOptions& options);
/// Adds --overlap.
void add_overlap_option(CLI::App& command, geo::OverlapChoice& overlap);
/// The engine's critical worker that a choice of --overlap means.
[[nodiscard]] CriticalWorker critical_worker(geo::OverlapChoice overlap);
/// Adds --json, --tile, --dist, --overlap and the options of the engine, under the headings Output and Machine: what
/// stands under Output is to be added before.
void add_run_options(CLI::App& command, GeoOptions& options);

/// The engine that the options ask for, with the critical worker that the last step of --overlap means.
[[nodiscard]] std::unique_ptr<StarpuEngine> start_geo_engine(const GeoOptions& options);
/// The step that was asked for, or that `auto` came to on this node when the engine started.
[[nodiscard]] geo::Overlap overlap_of(geo::OverlapChoice choice, const StarpuEngine& engine);
/// Tile size, distribution and overlap for n observations.
[[nodiscard]] geo::LikelihoodOptions likelihood_options(const GeoOptions& options, Index n, const StarpuEngine& engine);

/// What to tell the user on stderr when it is known which node speaks.
using Notes = std::vector<std::string>;
void print_notes(const Engine& engine, const Notes& notes);

/// Columns of a file that was read, with missing values as --na says; notes say how many rows were dropped.
[[nodiscard]] NumericTable select_numbers(const CsvTable& file, const DataOptions& options,
                                          const std::vector<std::string>& columns, Notes& notes);
/// The observations of a file; notes say how many rows were dropped for missing values, and whether degrees are
/// taken for lengths. Throws Error about coordinates that the metric does not have.
[[nodiscard]] geo::Observations read_observations(const DataOptions& options, Notes& notes,
                                                  Metric metric = Metric::euclidean);
/// The coordinates of a file's points.
[[nodiscard]] std::vector<std::vector<double>> read_points(const DataOptions& options, Notes& notes,
                                                           Metric metric = Metric::euclidean);

/// Family, metric, trend, choices of parameters and known mean.
[[nodiscard]] geo::Model model_of(const ModelOptions& options, const geo::Observations& observations);
/// The parameters of --theta. Throws Error naming those that are missing; the nugget is 0 unless given.
[[nodiscard]] CovarianceParameters theta_of(const ModelOptions& options);

/// The options as they were resolved, for model files.
[[nodiscard]] Json configuration_json(const GeoOptions& options, const geo::LikelihoodOptions& resolved,
                                      const Engine& engine);

/// Throws Error now if a file could not be written later.
void require_writable(const std::string& path);

}  // namespace tesela::cli
