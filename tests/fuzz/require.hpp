#pragma once

#include <cstdio>
#include <cstdlib>

namespace tesela::fuzz {

/// Ends the program, which a fuzzer and a test notice, where something that must be so is not.
inline void require(bool so, const char* what) {
    if (so) return;
    std::fprintf(stderr, "not so: %s\n", what);
    std::abort();
}

}  // namespace tesela::fuzz
