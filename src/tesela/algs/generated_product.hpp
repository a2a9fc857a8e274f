#pragma once

#include "tesela/algs/conjugate_gradients.hpp"
#include "tesela/algs/elementwise.hpp"

#include <memory>
#include <type_traits>
#include <utility>

namespace tesela {

/// Y := A·X for the matrix with these elements, which are computed as they are needed and never stored: n² of them for
/// each product. Products run where the rows of Y live. Throws Error unless X and Y are one tile wide and cut alike.
void multiply_generated(Stream& s, const Elements& A, const MatrixView<double>& X, const MatrixView<double>& Y);

/// That product with the elements that a function of row and column gives, for conjugate_gradients and factor_residual.
/// The function is copied and kept as long as the stream; it is called by several threads at a time.
///     const SymmetricProduct A = generated_product(s, [](Index i, Index j) { return 1.0 / (1 + i + j); });
template <class Function>
requires std::is_invocable_r_v<double, const Function&, Index, Index>
[[nodiscard]] SymmetricProduct generated_product(Stream& s, Function function) {
    const auto kept = std::make_shared<const Function>(std::move(function));
    s.keep(kept);
    return [&s, elements = elements_by<detail::call<Function>>(*kept)](
               const MatrixView<double>& X, const MatrixView<double>& Y) { multiply_generated(s, elements, X, Y); };
}

/// ‖A − L·Lᵀ‖₂ by power iterations, for a symmetric A of which only products are known: one in each. An estimate from
/// below: a quarter low after 3 iterations, a twentieth after 12, in a case that was looked at. Of L the lower triangle
/// is looked at. Waits, on all nodes alike; throws Error if the stream fails.
[[nodiscard]] double factor_residual(Stream& s, const SymmetricProduct& A, const MatrixView<double>& L, int iterations);

}  // namespace tesela
