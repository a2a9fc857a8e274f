#pragma once

#include "tesela/base/error.hpp"
#include "tesela/base/index.hpp"
#include "tesela/base/names.hpp"
#include "tesela/mds/streamed_matrix.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tesela {
class MatrixFile;
}  // namespace tesela

namespace tesela::mds {

/// Which matrix A is made of a file's F, m x n, and decomposed:
/// scaling: F are distances, A = -½·J·F²·J with J = I - 11ᵀ/n (paper 000, (3)), whose eigenvalues are wanted;
/// components: A = F less the mean of each column; scaled_components: each column also divided by its deviation
/// (n - 1); correspondence: with P = F/ΣF, its row sums r and column sums c, A = Dr^-½·(P - r·cᵀ)·Dc^-½.
/// Where rows have weights w, W = diag(w) and J = I - 1·wᵀ/Σw: scaling: A = -½·W^½·J·F²·Jᵀ·W^½ (Gower's weighted
/// principal coordinates), that is -½·(I - q·qᵀ)·W^½·F²·W^½·(I - q·qᵀ) with q = (w/Σw)^½; components: W^½·J·F, with
/// deviations that are weighted too (see degrees_of_freedom).
enum class Analysis : std::uint8_t { scaling, components, scaled_components, correspondence };

/// How values and vectors are found: by LAPACK from all of A, by a randomized basis that is multiplied again
/// (power iterations), or by one that keeps what was multiplied (block Krylov), for spectra that decay slowly.
/// automatic: see resolve().
enum class Algorithm : std::uint8_t { automatic, exact, power, krylov };
inline constexpr Names<Algorithm, 4> algorithm_names{{{Algorithm::automatic, "auto"},
                                                      {Algorithm::exact, "exact"},
                                                      {Algorithm::power, "power"},
                                                      {Algorithm::krylov, "krylov"}}};

/// How much of a distance matrix is compared with its transposed: nothing beyond the diagonal's tiles, some tiles, or
/// all; or its two halves are averaged. What is not compared is not read.
enum class Symmetry : std::uint8_t { unchecked, sampled, checked, averaged };

/// Who reads which tile of a matrix, and who keeps it and computes with it, as a plan has it.
struct TileOwners {
    Distribution read;
    Distribution compute;
};

/// What is known of distances before they are read: those between points have no negative eigenvalues.
enum class DistanceKind : std::uint8_t { any, euclidean };

/// From the least to the greatest that a number can be; equal where it is known.
struct Interval {
    double low = 0;
    double high = 0;
    [[nodiscard]] bool is_exact() const { return low == high; }
    friend bool operator==(const Interval&, const Interval&) = default;
};
[[nodiscard]] inline Interval exactly(double number) { return {number, number}; }

/// What is asked of a decomposition; what is done is a Decision (see resolve.hpp).
struct DecompositionOptions {
    std::optional<Index> dimensions{};  ///< values and vectors that are wanted; none: two, where there are so many
    /// Instead: as many dimensions as explain this part of the variance, `dimensions` at most (see
    /// dimensions_explaining).
    std::optional<double> explained{};
    /// Masses of the rows, above 0; none: all 1. Not for correspondence, whose masses are its margins.
    std::vector<double> row_weights{};
    Index oversampling = 10;
    Algorithm algorithm = Algorithm::automatic;
    /// Until the estimated relative error of each wanted value is below this; none: `iterations` times.
    std::optional<double> tolerance = 1e-8;
    int iterations = 2;
    int most_passes = 60;    ///< over the matrix; what is reached by then is the result, with its error
    Index most_blocks = 12;  ///< that algorithm krylov keeps; then it begins anew from what it knows
    std::uint64_t seed = 0;
    Index tile = 0;     ///< 0: chosen
    int readers = 5;    ///< at a time on a node (paper 000, section 2.2)
    double memory = 0;  ///< bytes on a node for tiles of the matrix; what is beyond is read again in every pass; 0: all
    /// For tiles of the size `tile`, which is given then, all of which are kept; none: whole rows of tiles, dealt to
    /// the nodes in turns. Who reads counts from StreamingStep::read_order on.
    std::optional<TileOwners> owners{};
    Symmetry symmetry = Symmetry::sampled;
    DistanceKind distances = DistanceKind::any;
    StreamingStep overlap = StreamingStep::priorities;
    /// Called on the first node now and then with a text such as "pass 3: error 2e-5".
    std::function<void(const std::string&)> progress{};
};

/// What is known of A after it has been decomposed; the same on every node.
struct Decomposition {
    Index rows = 0;
    Index cols = 0;
    /// Eigenvalues (scaling) or singular values, the largest first: those wanted, and what else an algorithm knows as
    /// well as those. All of them, if they are min(rows, cols).
    std::vector<double> values{};
    /// No value that is not among `values` is larger in magnitude, as far as that is known.
    double rest_at_most = std::numeric_limits<double>::infinity();
    Index wanted = 0;             ///< how many of them are results
    std::vector<double> left{};   ///< rows x wanted, columns one after the other, of length 1; signs: see fix_signs
    std::vector<double> right{};  ///< cols x wanted; empty for scaling
    Algorithm algorithm = Algorithm::exact;
    double trace = 0;      ///< of A, where it is square
    double frobenius = 0;  ///< the sum of all squares of A
    /// Sums over F: of each row, column and all. scaling: Σ_j w_j·F_ij² of each row, and Σ_ij w_i·w_j·F_ij²; no
    /// column's, which are the same. components: Σ_i w_i·F_ij of each column; no row's.
    std::vector<double> row_sums{};
    std::vector<double> col_sums{};
    std::vector<double> col_squares{};  ///< components: Σ_i w_i·(F_ij - its column's mean)²
    double total = 0;
    double weight = 0;          ///< Σw: the number of rows where they have no weights
    double error_estimate = 0;  ///< the largest relative error of the wanted values; 0: exact
    double residual = 0;        ///< the largest |A·v - value·u| relative to the largest value
    DistanceKind distances = DistanceKind::any;
    int passes = 0;
    Index products = 0;  ///< columns that the matrix was multiplied with, in all passes
    double seconds = 0;
    double first_seconds = 0;  ///< until all had been read and multiplied once
    double read_seconds = 0;   ///< spent in reading, of all readers together
};

/// What an Error can be helped by that says so: giving larger tiles, or averaging a matrix that is not symmetric.
class Refusal : public Error {
public:
    enum class Remedy : std::uint8_t { none, larger_tiles, averaging };
    Refusal(const std::string& what, Remedy remedy, Index least_tile = 0)
        : Error(what),
          remedy_(remedy),
          least_tile_(least_tile) {}
    [[nodiscard]] Remedy remedy() const { return remedy_; }
    [[nodiscard]] Index least_tile() const { return least_tile_; }  ///< that is not refused, of larger_tiles

private:
    Remedy remedy_;
    Index least_tile_;
};

struct Decision;

/// Decomposes what analysis makes of the file; every node calls it. The same digits each time take a stream with
/// Sums::in_order. Throws Error in one line where the file's values are not what the analysis needs (not a number,
/// negative, not symmetric …: what and where), or it cannot be read.
[[nodiscard]] Decomposition decompose(Stream& stream, const MatrixFile& file, const Decision& decision);
[[nodiscard]] Decomposition decompose(Stream& stream, const MatrixFile& file, Analysis analysis,
                                      const DecompositionOptions& options);

/// The largest eigenvalues of a symmetric matrix in memory, n x n, column by column, of which the lower triangle
/// counts; by products with random numbers. Every node calls it with the same values. Throws Error for more than n - 1
/// dimensions.
[[nodiscard]] Decomposition decompose_symmetric(Stream& stream, const double* values, Index n,
                                                const DecompositionOptions& options);

/// As many dimensions as the analysis of an m x n matrix can have: m - 1, min(m - 1, n) or min(m, n) - 1.
[[nodiscard]] Index most_dimensions(Analysis analysis, Index rows, Index cols);

/// Throws Error where options cannot be meant for the analysis of this file: its shape, labels of distances that are
/// not the same for rows and columns, too many dimensions, weights, too many tiles, owners of other tiles.
void validate(const MatrixFile& file, Analysis analysis, const DecompositionOptions& options);

/// The factor that turns a sum of weighted squares about the mean into a variance: n - 1, or with weights
/// Σw - Σw²/Σw, as cov.wt of R has it.
[[nodiscard]] double degrees_of_freedom(std::span<const double> weights, Index rows);

/// Vectors are determined up to their sign: makes the largest element in magnitude of each column of `left` positive
/// (the first of those that differ by less than 1e-6 of it), and turns the same column of `right`, if there is one.
void fix_signs(Decomposition& result);

}  // namespace tesela::mds
