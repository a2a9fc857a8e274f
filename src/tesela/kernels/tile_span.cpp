#include "tesela/kernels/tile_span.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace tesela {

#ifdef NDEBUG
const TileChecks usual_checks = TileChecks::none;
#else
const TileChecks usual_checks = TileChecks::bounds;
#endif

}  // namespace tesela

namespace tesela::detail {
namespace {

thread_local OutsideElement first_outside;

const char* triangle(Part part) {
    if (part == Part::all) return "";
    return part == Part::lower ? "the lower triangle of " : "the upper triangle of ";
}

}  // namespace

void note_outside(const OutsideElement& which) noexcept {
    if (!std::exchange(is_outside, true)) first_outside = which;
}

const char* take_outside() noexcept {
    is_outside = false;
    thread_local std::array<char, 200> text;
    const auto& [tile, element, shape, part] = first_outside;
    static_cast<void>(std::snprintf(
        text.data(), text.size(),
        "used element (%lld, %lld) of its tile %lld, outside of %s%lld x %lld elements (all counted from 0)",
        static_cast<long long>(element.i), static_cast<long long>(element.j), static_cast<long long>(tile),
        triangle(part), static_cast<long long>(shape.rows), static_cast<long long>(shape.cols)));
    return text.data();
}

}  // namespace tesela::detail
