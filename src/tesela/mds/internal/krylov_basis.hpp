#pragma once

#include "tesela/flow/matrix.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tesela::mds {

/// What a basis knows of the eigenvalues of a symmetric operator S, the largest first.
struct SpectrumEstimate {
    std::vector<double> values;
    std::vector<double> coefficients;  ///< of the vectors in the basis, a column for each value
    std::vector<double> residuals;     ///< |S·v - value·v|, of the first values
    std::vector<double> errors;        ///< of these values, relative to themselves or to a millionth of the largest

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
/// again (power iterations), or all of them. Those grow by residuals S·v - value·v of chosen values, made orthogonal to
/// all that is there: by those of as many values as the first block has columns this is block Krylov; by those of
/// values that are not known well enough yet it takes fewer products (block Davidson without a preconditioner). As the
/// first block has a column for each wanted value, those that are equal are all found.
class KrylovBasis {
public:
    enum class Keeps : std::uint8_t { last, all };
    struct Options {
        Keeps keeps = Keeps::all;
        Index most_columns = 0;  ///< then it begins anew, from the vectors of the largest values
        /// How so many columns are cut into tiles.
        std::function<std::vector<Index>(Index columns)> cuts;
    };

    KrylovBasis(Stream& stream, Options options) : s_(stream), options_(std::move(options)) {}

    /// Takes the first block, whose columns need not be at right angles.
    void begin(Matrix<double> first);
    /// The block that S is to be applied to next.
    [[nodiscard]] Matrix<double> take_next();
    /// What take_next() gave, and S times it; waits. Residuals are known of so many values.
    void add(BasisBlock block, Index values);
    /// Of the blocks so far; the same on every node.
    [[nodiscard]] const SpectrumEstimate& estimate() const { return estimate_; }
    /// Makes residuals known of so many values.
    void estimate_residuals(Index values);
    /// Elements of a vector.
    [[nodiscard]] Index rows() const { return blocks_.front().Q.tiling().size().i; }
    /// Columns that it can still grow by: no more than vectors have elements.
    [[nodiscard]] Index room() const;
    /// Makes the next block: of what S gave for the last one, or of the residuals of these values, at most room() and
    /// at least one; `kept` values survive where it begins anew.
    void extend(std::span<const Index> of_values, Index kept);

    /// The vectors of the first values: Q, or Y = A·Q, times their coefficients, on every node.
    [[nodiscard]] std::vector<double> vectors(Index count) const;
    [[nodiscard]] std::vector<double> multiplied_vectors(Index count) const;

private:
    using View = MatrixView<double>;
    /// Column by column.
    using Small = std::vector<double>;

    [[nodiscard]] Index order() const { return starts_.back(); }
    /// Columns of the vectors of these values in the basis, each times a factor.
    [[nodiscard]] Small coefficients_of(std::span<const Index> values, std::span<const double> factors) const;
    [[nodiscard]] Matrix<double> residuals_of(std::span<const Index> values) const;
    void push(BasisBlock block);
    void extend_products();
    void find_spectrum();
    void project(const View& X) const;
    void begin_anew(Index kept);
    /// All zero, with rows cut and placed as those of another.
    [[nodiscard]] Matrix<double> zeros_like(const Matrix<double>& rows, Index columns, const char* name) const;
    template <class Part>
    void add_combined(Part part, const Small& weights, const View& sum) const;
    template <class Part>
    [[nodiscard]] Matrix<double> combined(Part part, Index count) const;

    Stream& s_;
    Options options_;
    std::vector<BasisBlock> blocks_;
    std::vector<Index> starts_{0};  ///< the first column of each block, and the number of all
    std::optional<Matrix<double>> next_;
    Small T_;  ///< Qᵀ·S·Q, order() x order()
    SpectrumEstimate estimate_;
};

}  // namespace tesela::mds
