#include "compile_fail/common.hpp"

namespace tesela {

void halve(TileSpan<double> tile) { tile(0, 0) /= 2; }
const auto halve_kernel = make_kernel<halve>("halve");

}  // namespace tesela
