#include "tesela/kernels/tile_span.hpp"

#include <fmt/format.h>

#include <array>
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
    const auto end =
        fmt::format_to_n(text.data(), text.size() - 1,
                         "used element ({}, {}) of its tile {}, outside of {}{} x {} elements (all counted from 0)",
                         element.i, element.j, tile, triangle(part), shape.rows, shape.cols);
    *end.out = 0;
    return text.data();
}

}  // namespace tesela::detail
