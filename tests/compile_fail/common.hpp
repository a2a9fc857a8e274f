#pragma once

// A kernel of one's own and matrices for it. Each file beside this one makes one wrong task of them, which must not
// compile; right.cpp must.
#include "tesela/flow/matrix.hpp"

namespace tesela {

struct AxpyArguments {
    double factor;
};
inline KernelResult axpy(const AxpyArguments&, TileSpan<const double>, TileSpan<double>) noexcept { return {}; }
inline constexpr auto axpy_kernel = make_kernel<axpy>("axpy");

struct OtherArguments {
    double factor;
};

Task task_of(const Matrix<double>& x, const Matrix<double>& y, const Matrix<float>& single);

}  // namespace tesela
