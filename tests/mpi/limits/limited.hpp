#pragma once

#include "tesela/starpu/engine.hpp"

#include <fmt/format.h>

#include <string>

namespace tesela::testing {

/// What is wrong on some node, on every node: all give up or none.
inline std::string on_any_node(StarpuEngine& engine, const std::string& wrong) {
    std::string all;
    Index node = 0;
    for (const std::string& text : engine.gather(wrong)) {
        if (!text.empty()) all += fmt::format("node {}: {}\n", node, text);
        ++node;
    }
    return all;
}

}  // namespace tesela::testing
