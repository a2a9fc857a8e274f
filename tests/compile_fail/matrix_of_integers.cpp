#include "compile_fail/common.hpp"

tesela::Matrix<int>* tesela_matrix(tesela::Stream& s, const tesela::Tiling& t, const tesela::Distribution& d) {
    return new tesela::Matrix<int>(s, t, d);
}
