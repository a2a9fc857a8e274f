#pragma once

#include "tesela/flow/matrix.hpp"

#include <memory>
#include <type_traits>
#include <utility>

namespace tesela {

/// What generates a matrix: a pure function of the global index, and the caller's data for it, which outlives the work.
struct Elements {
    ElementFunction function = nullptr;
    const void* context = nullptr;
};

/// Element (i, j) is element(object, i, j); refers to the object, which outlives the work.
///     double normal(const std::uint64_t& seed, Index i, Index j);
///     generate(s, A, elements_by<normal>(seed));
template <auto element, class Object>
requires std::is_invocable_r_v<double, decltype(element), const Object&, Index, Index>
[[nodiscard]] Elements elements_by(const Object& object) {
    return {
        [](const void* it, ElementIndex at) -> double { return element(*static_cast<const Object*>(it), at.i, at.j); },
        &object};
}
template <auto element, class Object>
Elements elements_by(const Object&& object) = delete;

namespace detail {
template <class Function>
double call(const Function& function, Index i, Index j) {
    return function(i, j);
}
}  // namespace detail

/// A(i, j) := elements(i, j), for the tiles of which the view means a part.
template <class T>
void generate(Stream& s, const MatrixView<T>& A, const Elements& elements);

/// The same by any function of row and column, which is copied and kept as long as it is needed. It is called later, by
/// several threads at a time: capture by value, or what outlives the next `wait`. If it throws, the stream fails.
///     generate(s, A, [length](Index i, Index j) { return std::exp(-std::abs(i - j) / length); });
template <class T, class Function>
requires std::is_invocable_r_v<double, const Function&, Index, Index>
void generate(Stream& s, const MatrixView<T>& A, Function function) {
    const auto kept = std::make_shared<const Function>(std::move(function));
    s.keep(kept);
    generate(s, A, elements_by<detail::call<Function>>(*kept));
}

/// A := value off the diagonal, diagonal value on it, in the tiles of which the view means a part.
template <class T>
void fill(Stream& s, const MatrixView<T>& A, const LasetArguments& values);

/// B := A, tile by tile, for the part that A means. Throws Error unless A and B are cut alike and neither is
/// transposed: see redistribute.hpp for all else.
template <class T>
void copy(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B);

/// sum := Σ A(i, j)·B(i, j), sum a Scalar; products run where A lives. Throws Error unless A and B are whole, cut alike
/// and not transposed against each other.
template <class T>
void dot(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B, const MatrixView<T>& sum);

/// sum := log det(L·Lᵀ) = 2·Σ log L(i, i), sum a Scalar. Throws Error unless L is square with rows and columns cut
/// alike.
template <class T>
void log_determinant(Stream& s, const MatrixView<T>& L, const MatrixView<T>& sum);

#define TESELA_DECLARE_ELEMENTWISE(T)                                                                    \
    extern template void generate(Stream&, const MatrixView<T>&, const Elements&);                       \
    extern template void fill(Stream&, const MatrixView<T>&, const LasetArguments&);                     \
    extern template void copy(Stream&, const MatrixView<T>&, const MatrixView<T>&);                      \
    extern template void dot(Stream&, const MatrixView<T>&, const MatrixView<T>&, const MatrixView<T>&); \
    extern template void log_determinant(Stream&, const MatrixView<T>&, const MatrixView<T>&)
TESELA_DECLARE_ELEMENTWISE(float);
TESELA_DECLARE_ELEMENTWISE(double);
#undef TESELA_DECLARE_ELEMENTWISE

}  // namespace tesela
