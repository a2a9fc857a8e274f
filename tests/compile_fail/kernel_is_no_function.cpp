#include "compile_fail/common.hpp"

namespace tesela {

const auto halve_kernel = make_kernel<2>("halve");

}  // namespace tesela
