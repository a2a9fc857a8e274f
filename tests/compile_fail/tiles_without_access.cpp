#include "compile_fail/common.hpp"

tesela::Task tesela::task_of(const Matrix<double>& x, const Matrix<double>& y, const Matrix<float>& single) {
    (void)single;
    return Task(axpy_kernel, AxpyArguments{2.0}, x(0, 0), y(0, 0));
}
