#pragma once

#include "tesela/flow/engine.hpp"

#include <fmt/format.h>

#include <string>

namespace tesela::testing {

/// What is wrong on some node, on every node. Every node plays the same streams: what one finds wrong all must learn
/// before any gives up, otherwise the others would wait for it in the next stream.
inline std::string on_any_node(Engine& engine, const std::string& wrong) {
    std::string all;
    Index node = 0;
    for (const std::string& text : engine.gather(wrong)) {
        if (!text.empty()) all += fmt::format("node {}: {}\n", node, text);
        ++node;
    }
    return all;
}

}  // namespace tesela::testing
