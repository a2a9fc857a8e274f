#pragma once

#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/geo/model_file.hpp"
#include "tesela/jobs/evaluation.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tesela::autoplan {
class RunningPlan;
}

namespace tesela::cli {

/// What commands on Gaussian processes do alike when they run.

/// What to tell the user on stderr when it is known which node speaks.
using Notes = std::vector<std::string>;
void print_notes(const Engine& engine, const Notes& notes);

/// The observations of a file, with the columns that the trend uses.
[[nodiscard]] geo::Observations read_observations(const geo::DataFile& data, Notes& notes,
                                                  const ModelOptions& model = {});

/// The engine that the options ask for, with a worker for critical tasks where a node has cores to spare.
[[nodiscard]] std::unique_ptr<StarpuEngine> start_geo_engine(const RunOptions& options);

/// What --plan asks for, and the owners that it came to.
struct OwnersPlan {
    std::optional<geo::PlannedOwners> owners{};
    std::shared_ptr<autoplan::RunningPlan> running{};  ///< of --plan auto, which goes on while a fit runs
};
/// The first node says what was chosen; every node calls it.
[[nodiscard]] OwnersPlan plan_owners(const GeoOptions& options, Index n, StarpuEngine& engine);
/// The decisions of an evaluation of so many observations by the options; every node calls it.
[[nodiscard]] geo::ResolvedEvaluation resolve_together(const GeoOptions& options, geo::EvaluationFacts facts,
                                                       StarpuEngine& engine);

/// Decisions and refusals in words; `model` is the file whose matrix was taken as an example.
void print_reasons(const Engine& engine, const std::vector<geo::Reason>& reasons, const std::string& model = "");
[[nodiscard]] std::string in_words(const geo::Refusal& refusal);
/// How a matrix was compressed, in a line or two.
[[nodiscard]] std::string in_words(const jobs::CompressedMatrix& compressed);

/// What a model's matrix is advised is done when it is fitted: who uses a model has no such options.
inline constexpr const char* when_fitting = " to tesela fit, and predict from the new model";
/// Says on the first node what there is to say against the factor of the last evaluation.
void print_doubts(const Engine& engine, const jobs::Doubts& doubts, const char* where = "");

/// "exact" or "tlr".
[[nodiscard]] std::string_view method_name(const geo::LikelihoodOptions& options);
/// Null where the matrix is not compressed.
[[nodiscard]] Json compression_json(const std::optional<jobs::CompressedMatrix>& compressed);
/// Whether what is evaluated is also looked at: a trace is of the evaluation alone.
[[nodiscard]] inline jobs::Look look_of(const RunOptions& options) {
    return options.trace.empty() ? jobs::Look::at_ranks : jobs::Look::at_cut;
}

/// The model of the first file; if it is the second that holds one, says so. `program` is "tesela predict".
[[nodiscard]] geo::FittedModel read_model_first(const std::string& program, const std::string& model,
                                                const std::string& second);

// Lines of results, aligned in a column of names.
[[nodiscard]] std::size_t name_width(const geo::TrendEstimate& trend);
/// In what a parameter is measured; empty where it has no unit.
[[nodiscard]] std::string unit_of(geo::Parameter parameter, const geo::Model& model, const geo::Observations& data);
/// Without standard errors.
void print_parameters(const geo::Model& model, const geo::Observations& data, const CovarianceParameters& theta,
                      const geo::TrendEstimate& trend);

}  // namespace tesela::cli
