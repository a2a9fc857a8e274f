#pragma once

#include "tesela/flow/machine.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/geo/model_file.hpp"
#include "tesela/geo/resolve.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>

namespace tesela::jobs {

/// Samples the ranks of a compressed covariance matrix once, when a decision first asks for them. What it is made of
/// outlives it.
class RankSampler {
public:
    /// `theta`: none before a fit. `threads`: 0: one per usable core.
    RankSampler(const geo::Observations& observations, const geo::Model& model,
                std::optional<CovarianceParameters> theta = {}, int threads = 0)
        : observations_(observations),
          model_(model),
          theta_(theta),
          threads_(threads) {}

    [[nodiscard]] std::shared_ptr<const geo::RankSample> sample(double accuracy, geo::Speeds speeds);
    /// That it took; 0 if nobody asked.
    [[nodiscard]] double seconds() const { return seconds_; }
    /// What is known of evaluations of these observations; they ask this for ranks.
    [[nodiscard]] geo::EvaluationFacts facts();

private:
    const geo::Observations& observations_;
    const geo::Model& model_;
    std::optional<CovarianceParameters> theta_;
    int threads_;
    std::shared_ptr<const geo::RankSample> ranks_;
    double seconds_ = 0;
};

/// The same with what is known from a model's file.
[[nodiscard]] geo::EvaluationFacts facts_of(RankSampler& sampler, const geo::FittedModel& fitted);

/// resolve() on all nodes, which come to the same: where the cuts of compressed matrices differ, as sampled ranks may
/// in the last digit and measured speeds do, that of the first node is taken. Every node calls it.
[[nodiscard]] geo::ResolvedEvaluation resolve_together(Engine& engine, const geo::EvaluationRequest& request,
                                                       geo::EvaluationFacts facts);

/// How fast the slowest node generates and multiplies; every node calls it. Takes a few hundredths of a second.
[[nodiscard]] CompressedRates rates_of_slowest(Engine& engine, const Covariance& covariance, const PointSet& points);

/// What to tell people about a matrix of a good evaluation; empty where all is well.
struct Doubts {
    std::string conditioning{};
    std::string compression{};
};
[[nodiscard]] Doubts doubts_about(const geo::Likelihood& likelihood);

/// How much is looked at of a compressed matrix: a trace is of the evaluation alone.
enum class Look : std::uint8_t { at_cut, at_ranks };

/// How a compressed matrix was cut, and what came of it where that was looked at.
struct CompressedMatrix {
    Index tile = 0;
    Index band = 1;
    double accuracy = 0;  ///< that was asked for
    std::optional<geo::CompressionReport> found{};
};
/// Of a good evaluation; none where the matrix is not compressed.
[[nodiscard]] std::optional<CompressedMatrix> compressed_matrix(geo::Likelihood& likelihood, Look look);
[[nodiscard]] nlohmann::ordered_json to_json(const CompressedMatrix& matrix);

/// One evaluation of the likelihood.
struct LoglikRequest {
    geo::Observations observations;
    geo::Model model;
    CovarianceParameters theta;
    geo::EvaluationRequest evaluation{};
    Look look = Look::at_ranks;
};
struct Loglik {
    geo::LikelihoodValue value{};
    geo::LikelihoodOptions options{};  ///< as it was evaluated
    double seconds = 0;
    Doubts doubts{};  ///< where it was looked at more than the cut
    std::optional<CompressedMatrix> compressed{};
};
/// Throws NotPositiveDefinite unless the covariance matrix is.
[[nodiscard]] Loglik loglik(Stream& stream, const LoglikRequest& request, const geo::ResolvedEvaluation& resolved);

}  // namespace tesela::jobs
