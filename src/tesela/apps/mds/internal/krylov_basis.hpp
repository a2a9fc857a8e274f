#pragma once

#include "tesela/flow/matrix.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace tesela::mds {

/// What a basis knows of the eigenvalues of a symmetric operator S, the largest first.
struct SpectrumEstimate {
    std::vector<double> values;
    std::vector<double> coefficients;  ///< of the vectors in the basis, a column for each value
    std::vector<double> residuals;     ///< |S·v - value·v|
    std::vector<double> errors;        ///< of the values, relative to themselves or to a millionth of the largest

    /// The largest of the first ones.
    [[nodiscard]] double error(Index count) const;
    /// The same of the residuals, relative to the largest value.
    [[nodiscard]] double residual(Index count) const;
};

/// Columns Q at right angles, S·Q, and where S = Aᵀ·A also A·Q.
struct BasisBlock {
    Matrix<double> Q;
    Matrix<double> Z;
    std::optional<Matrix<double>> Y;
};

/// A basis of what a symmetric operator has been applied to, block by block: the last block alone, which is multiplied
/// again (power iterations), or all of them (block Krylov; with S symmetric this is block Lanczos, every block made
/// orthogonal to all others). It begins anew, from the vectors of the largest values, when it has its most
/// blocks.
class KrylovBasis {
public:
    enum class Keeps : std::uint8_t { last, all };

    KrylovBasis(Stream& stream, Keeps keeps, Index most_blocks)
        : s_(stream),
          keeps_(keeps),
          most_blocks_(std::max<Index>(2, most_blocks)) {}

    /// Takes the first block, whose columns need not be at right angles.
    void begin(Matrix<double> first);
    /// The block that S is to be applied to next.
    [[nodiscard]] Matrix<double> take_next();
    /// What take_next() gave, and S times it; waits.
    void add(BasisBlock block);
    /// Of the blocks so far; the same on every node.
    [[nodiscard]] const SpectrumEstimate& estimate() const { return estimate_; }
    /// Makes the next block, of what S gave for the last one.
    void extend();

    /// The vectors of the first values: Q, or Y = A·Q, times their coefficients, on every node.
    [[nodiscard]] std::vector<double> vectors(Index count) const;
    [[nodiscard]] std::vector<double> multiplied_vectors(Index count) const;

private:
    using View = MatrixView<double>;
    /// Column by column.
    using Small = std::vector<double>;

    [[nodiscard]] Index width() const { return blocks_.back().Q.tiling().size().j; }
    [[nodiscard]] Index order() const { return static_cast<Index>(blocks_.size()) * width(); }
    [[nodiscard]] Small project(const View& X) const;
    [[nodiscard]] Small orthonormal(const View& X) const;
    void make_estimate();
    void begin_anew();
    template <class Part>
    [[nodiscard]] Matrix<double> combined(Part part, Index count) const;

    Stream& s_;
    Keeps keeps_;
    Index most_blocks_;
    std::vector<BasisBlock> blocks_;
    std::optional<Matrix<double>> next_;
    Small T_;          ///< Qᵀ·S·Q, order() x order()
    Small remainder_;  ///< R of S·Q(last) - Q·Qᵀ·S·Q(last) = next·R, width() x width()
    SpectrumEstimate estimate_;
};

}  // namespace tesela::mds
