#pragma once

#include "tesela/mds/internal/krylov_basis.hpp"
#include "tesela/mds/resolve.hpp"
#include "tesela/mds/streamed_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tesela::mds {

/// Multiplies a basis until the wanted values are known as well as the options ask.
class Iteration {
public:
    /// What the eigenvalues are of: A itself, or Aᵀ·A, whose roots are singular values of A.
    enum class Of : std::uint8_t { matrix, normal_matrix };
    struct Setting {
        StreamedMatrix& matrix;
        Of of = Of::matrix;
        const Decision& decision;
        std::function<void()> wait;  ///< for all that was submitted; throws Error where it failed
        /// What the basis grows by: residuals of wanted values that are not known well enough, for the fewest products,
        /// or of as many values as the first block has columns, for the fewest passes.
        enum class Growth : std::uint8_t { fewest_products, fewest_passes } growth = Growth::fewest_products;
        double trace = 0;       ///< of A, where it is the matrix
        int passes = 0;         ///< that the first block took
        double negligible = 0;  ///< a sum of squares that is 0 up to rounding
    };

    Iteration(Stream& stream, Setting setting);

    /// From a first block, whose columns need not be at right angles.
    void run(Matrix<double> first);

    /// What has come of it: values, the wanted vectors, their errors, the sum of squares of A and the passes. `factor`:
    /// what values of A are to be multiplied with.
    void report(double factor, Decomposition& result) const;

private:
    [[nodiscard]] const DecompositionOptions& options() const { return setting_.decision.asked; }
    [[nodiscard]] bool symmetric() const { return setting_.of == Of::matrix; }
    [[nodiscard]] BasisBlock multiplied(Matrix<double> Q);
    [[nodiscard]] Index wanted() const;
    /// Of A, where theta is one of the operator's.
    [[nodiscard]] double value_of(double theta) const { return symmetric() ? theta : std::sqrt(std::max(0.0, theta)); }
    /// Singular values are roots of what is estimated: half the relative error.
    [[nodiscard]] double error(double estimated) const { return symmetric() ? estimated : 0.5 * estimated; }
    [[nodiscard]] bool is_enough(int iteration) const;
    /// Those whose residuals the basis is to grow by.
    [[nodiscard]] std::vector<Index> values_to_improve() const;
    void report_values(double factor, Decomposition& result) const;
    void report_vectors(double factor, Decomposition& result) const;
    void tell() const;

    Stream& s_;
    Setting setting_;
    KrylovBasis basis_;
    Index width_ = 0;  ///< of the first block
    std::unique_ptr<Scalar<double>> squares_;
    double frobenius_ = 0;
    int passes_ = 0;
    Index products_ = 0;
};

}  // namespace tesela::mds
