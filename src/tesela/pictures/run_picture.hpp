#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tesela {

/// From a start to an end, in seconds of a run.
struct PicturedSpan {
    double start = 0;
    double end = 0;
};

/// A task of a worker, and the number of the part of the run that it belongs to.
struct PicturedWork {
    PicturedSpan span;
    std::size_t part = 0;
};

/// Workers of a node that are alike, and what they did. Accelerators, of which there are few, get half the height.
struct PicturedWorkers {
    enum class Kind : std::uint8_t { cores, accelerators };
    std::int32_t node = 0;
    Kind kind = Kind::cores;
    double count = 1;
    std::vector<PicturedWork> work{};
};

/// When tasks of a step of a part ran, from the first start to the last end.
struct PicturedStep {
    std::size_t part = 0;
    std::int32_t step = 0;
    PicturedSpan span{};
};

/// Bytes in main memory of a node from some time on.
struct PicturedLevel {
    double time = 0;
    double bytes = 0;
};

/// A run, of which there may be no steps and no memory to show.
struct PicturedRun {
    std::string title;
    double makespan = 0;
    std::vector<PicturedWorkers> workers{};
    std::vector<PicturedStep> steps{};
    std::vector<std::vector<PicturedLevel>> memory{};  ///< by node
};

/// Runs beside each other on one scale of time. Parts, by their names, have a colour each.
struct RunsPicture {
    std::string title;
    std::vector<std::string> parts;
    std::string steps_label = "step";
    std::vector<PicturedRun> runs;
};

/// As SVG, as figures 5, 8, 10 and 12 of paper 000: when steps ran (where a run has any), what cores and accelerators
/// of each node did, and main memory in use. Throws Error where there is no run, or a part that has no name.
[[nodiscard]] std::string draw_runs(const RunsPicture& picture);

}  // namespace tesela
