#pragma once

// How LAPACK's functions are called. Private to src/tesela/kernels.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tesela::lapack {

/// Calls a function of LAPACK twice: for the size of its workspace, and with it.
template <class T, class Function>
void with_workspace(Function function) {
    T best = 0;
    int size = -1;
    function(&best, &size);
    size = std::max(1, static_cast<int>(best));
    std::vector<T> work(static_cast<std::size_t>(size));
    function(work.data(), &size);
}

}  // namespace tesela::lapack
