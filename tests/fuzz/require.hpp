#pragma once

#include "tesela/base/error.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tesela::fuzz {

/// Ends the program, which a fuzzer and a test notice, where something that must be so is not.
inline void require(bool so, const char* what) {
    if (so) return;
    std::fprintf(stderr, "not so: %s\n", what);
    std::abort();
}

/// A reader may refuse what it is given, in one line.
template <class Try>
void one_line_at_most(Try attempt) {
    try {
        attempt();
    } catch (const Error& error) {
        require(std::string_view(error.what()).find('\n') == std::string_view::npos, "an error is one line");
    }
}

}  // namespace tesela::fuzz
