#pragma once

#include "tesela/algs/compressed_cut.hpp"
#include "tesela/flow/machine.hpp"
#include "tesela/geo/likelihood.hpp"
#include "tesela/geo/matrix_storage.hpp"
#include "tesela/geo/rank_sample.hpp"
#include "tesela/plan/recipe.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tesela::geo {

/// How the covariance matrix is stored: with all its elements, compressed to an accuracy, or as suits its size.
enum class Method : std::uint8_t { exact, tlr, automatic };

/// Where the owners of tiles come from: a distribution by name, a plan that was made before, or one that is made for
/// the nodes at hand.
enum class OwnersFrom : std::uint8_t { family, plan, own_plan };

/// What slopes of the likelihood were asked for by, in a fit, and by which of its values.
struct NeedForSlopes {
    enum class By : std::uint8_t { optimizer, errors, profile };
    By by = By::profile;
    std::string value{};
};

/// What may be asked of an evaluation of the likelihood; what is left out is decided.
struct EvaluationRequest {
    std::optional<Method> method{};  ///< none: as the matrix of the model was stored, or exact
    std::optional<Index> tile{};
    std::string owners = "block_cyclic";  ///< as make_distribution() takes them
    OwnersFrom owners_from = OwnersFrom::family;
    std::optional<double> accuracy{};  ///< these are TileAccuracy's
    std::optional<Index> band{};
    std::optional<double> refine{};
    FactorPrecision precision = FactorPrecision::full;
    Speeds speeds = Speeds::usual;  ///< by which tile and band of compressed matrices are chosen
    std::optional<NeedForSlopes> slopes{};
};

/// Samples ranks to an accuracy; asked only where a decision depends on them.
using SampleRanks = std::function<std::shared_ptr<const RankSample>(double accuracy, Speeds speeds)>;

/// Tile size and owners that were planned.
struct PlannedOwners {
    Index tile = 0;
    plan::PhaseDistributions owners;
};

/// What is known besides.
struct EvaluationFacts {
    Index observations = 0;
    double evaluations = 1;                     ///< that will follow, see expected_evaluations()
    std::optional<MatrixStorage> checkpoint{};  ///< of the fit that goes on
    std::optional<MatrixStorage> model{};       ///< of the matrix that the model was fitted with
    std::optional<double> stored_part{};        ///< of all elements, that a compressed matrix of it had
    std::optional<PlannedOwners> plan{};
    std::optional<CompressedCut> cut{};  ///< of a compressed matrix, that nodes agreed on
    SampleRanks ranks{};
};

/// Why something was decided, for who asked; what they mean is in their numbers.
namespace reason {
/// Exact, since observations are few; what was to be tuned is not.
struct FewObservations {
    Index fewer_than = 0;
    Speeds speeds = Speeds::usual;
};
/// Exact or compressed by the cost of a compressed evaluation over that of an exact one, with what sampling costs.
struct ByRanks {
    Method method = Method::exact;
    Index sampled = 0;
    Index observations = 0;
    double cost = 0;
    double sampling = 0;
    double below = 0;  ///< compressed below this cost
};
/// Exact, since slopes were asked for, which compressed matrices do not have.
struct ForSlopes {
    NeedForSlopes need{};
};
/// Compressed, as the matrix that the model was fitted with.
struct AsFitted {
    double accuracy = 0;
};
/// Tile and band by speeds that were measured.
struct Tuned {
    CompressedCut cut{};
};
/// Without slopes, since the matrix is compressed: a search by values alone, and no standard errors.
struct WithoutSlopes {};
}  // namespace reason
using Reason = std::variant<reason::FewObservations, reason::ByRanks, reason::ForSlopes, reason::AsFitted,
                            reason::Tuned, reason::WithoutSlopes>;

/// A request that contradicts itself. What it says is for programs: who words it for people knows how it was asked.
class Refusal : public Error {
public:
    enum class Kind : std::uint8_t {
        accuracy_of_exact,
        band_of_exact,
        refinement_of_exact,
        precision_of_exact,
        tuning_of_exact,
        nothing_to_tune,         ///< tile and band are given
        own_plan_of_compressed,  ///< plans for the nodes at hand are of exact matrices
        slopes_of_compressed,
        own_plan_of_checkpoint,  ///< a plan may come to other owners than the fit had that goes on
    };
    explicit Refusal(Kind kind, std::optional<NeedForSlopes> need = {});
    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] const std::optional<NeedForSlopes>& need() const { return need_; }

private:
    Kind kind_;
    std::optional<NeedForSlopes> need_;
};

/// The request with its method decided, and with what it takes over from the checkpoint or the model.
struct MethodChoice {
    EvaluationRequest request{};
    std::shared_ptr<const RankSample> ranks{};  ///< of a compressed matrix, if they were sampled
    std::vector<Reason> reasons{};

    [[nodiscard]] bool is_compressed() const { return request.method == Method::tlr; }
};

/// What does not depend on the machine. Throws Refusal.
[[nodiscard]] MethodChoice choose_method(const EvaluationRequest& request, const EvaluationFacts& facts);

/// What is done.
struct ResolvedEvaluation {
    LikelihoodOptions likelihood{};  ///< tile, owners, overlap and compression
    std::shared_ptr<const RankSample> ranks{};
    std::vector<Reason> reasons{};
    Index observations = 0;
    Index workers = 1;                     ///< of all nodes
    std::vector<double> bytes_per_node{};  ///< of the covariance matrix
    double flops = 0;                      ///< of an evaluation
    double stored_part = 1;                ///< of all elements
    double work_over_dense = 1;            ///< of generation and factorisation with all elements

    [[nodiscard]] Method method() const { return likelihood.compression ? Method::tlr : Method::exact; }
};

/// What is done, by what was asked for, what is known of the data and which nodes there are: nothing else. Every node
/// that asks the same comes to the same, as far as sampled ranks are the same. Throws Refusal.
[[nodiscard]] ResolvedEvaluation resolve(const EvaluationRequest& request, const EvaluationFacts& facts,
                                         const Machine& machine);

/// Seconds of generation and factorisation, by what a worker does; the slowest one where they differ.
[[nodiscard]] double expected_seconds(const ResolvedEvaluation& resolved, const CompressedRates& rates);

}  // namespace tesela::geo
