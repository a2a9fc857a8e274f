#include "compile_fail/common.hpp"

namespace tesela {

struct Hidden {
    double numbers[2];
};
KernelResult scale(const Hidden& by, TileSpan<double> tile) noexcept {
    tile(0, 0) *= by.numbers[0];
    return {};
}
const auto scale_kernel = make_kernel<scale>("scale");

Task task_of(const Matrix<double>& x, const Matrix<double>& y, const Matrix<float>& single) {
    (void)y;
    (void)single;
    return {scale_kernel, {{2, 3}}, read_write(x(0, 0))};
}

}  // namespace tesela
