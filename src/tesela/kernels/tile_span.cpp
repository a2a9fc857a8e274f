#include "tesela/kernels/tile_span.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace tesela {

#ifdef NDEBUG
const TileChecks usual_checks = TileChecks::none;
#else
const TileChecks usual_checks = TileChecks::bounds;
#endif

}  // namespace tesela

namespace tesela::detail {
namespace {

std::optional<OutsideElement>& first_outside() {
    thread_local std::optional<OutsideElement> first;
    return first;
}

const char* triangle(Part part) {
    if (part == Part::all) return "";
    return part == Part::lower ? "the lower triangle of " : "the upper triangle of ";
}

}  // namespace

void note_outside(const OutsideElement& which) noexcept {
    if (!first_outside()) first_outside() = which;
}

const char* take_outside() noexcept {
    std::optional<OutsideElement>& first = first_outside();
    if (!first) return nullptr;
    thread_local std::array<char, 200> text;
    const auto end = fmt::format_to_n(
        text.data(), text.size() - 1,
        "used element ({}, {}) of its tile {}, outside of {}{} x {} elements (all counted from 0)", first->element.i,
        first->element.j, first->tile, triangle(first->part), first->shape.rows, first->shape.cols);
    *end.out = 0;
    first.reset();
    return text.data();
}

}  // namespace tesela::detail
