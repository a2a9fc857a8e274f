#include "tesela/apps/geo/overlap.hpp"

#include "tesela/base/error.hpp"

#include <array>
#include <string>

namespace tesela::geo {
namespace {

constexpr std::array<std::string_view, 7> names{"sync",       "async", "solve",        "memory",
                                                "priorities", "order", "oversubscribe"};

}  // namespace

std::string_view name(Overlap overlap) { return names[static_cast<std::size_t>(overlap)]; }

Overlap parse_overlap(std::string_view text) {
    std::string known;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == text) return static_cast<Overlap>(i);
        known.append(known.empty() ? "" : ", ").append(names[i]);
    }
    throw Error("\"{}\" is not a step of overlap; there are {}", text, known);
}

}  // namespace tesela::geo
