#pragma once

#include "tesela/base/names.hpp"
#include "tesela/pictures/run_picture.hpp"
#include "tesela/trace/trace.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tesela {

/// What tasks of a colour have in common: their phase, or their kernel.
enum class PictureBy : std::uint8_t { phase, kernel };
inline constexpr Names<PictureBy, 2> picture_by_names{{{PictureBy::phase, "phase"}, {PictureBy::kernel, "kernel"}}};

/// Phases or kernels with one colour, under one name.
struct PicturePart {
    std::string name;
    std::vector<std::string> members;
};

/// How runs are drawn.
struct TracePicture {
    std::string title;
    PictureBy by = PictureBy::phase;
    std::vector<PicturePart> parts{};     ///< empty: those that take most time, seven at most
    std::string rest = "other";           ///< the name of what is in none
    std::vector<std::string> steps_of{};  ///< parts whose steps are drawn too
    std::string steps_label = "step";
};

/// A run, and what is written over it.
struct TitledTrace {
    std::string title;
    trace::Trace trace;
};

/// Traced runs, real or simulated, beside each other. Throws Error for steps of a part that is not drawn.
[[nodiscard]] RunsPicture picture_of(const std::vector<TitledTrace>& runs, const TracePicture& wanted);

}  // namespace tesela
