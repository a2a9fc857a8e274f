#pragma once

#include "tesela/base/names.hpp"
#include "tesela/flow/critical_worker.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tesela::geo {

/// The steps of paper 000, section 4.2.1 and figure 7, each with those before it: phases that wait for each other; none
/// that does; the local solve; tiles that have their memory before the first evaluation and keep it; priorities of the
/// critical path; generation submitted in the order of priority; a core left to submission, with a worker for critical
/// tasks on it (an option of the engine, which the caller starts: CriticalWorker::shared_core).
enum class Overlap : std::uint8_t { sync, async, solve, memory, priorities, order, oversubscribe };
inline constexpr Names<Overlap, 7> overlap_names{{{Overlap::sync, "sync"},
                                                  {Overlap::async, "async"},
                                                  {Overlap::solve, "solve"},
                                                  {Overlap::memory, "memory"},
                                                  {Overlap::priorities, "priorities"},
                                                  {Overlap::order, "order"},
                                                  {Overlap::oversubscribe, "oversubscribe"}}};

/// What people may ask for: a step, or `auto` (nothing): the last one that pays on the engine at hand.
using OverlapChoice = std::optional<Overlap>;
inline constexpr auto overlap_choice_names = [] {
    Names<OverlapChoice, overlap_names.size() + 1> names{{{OverlapChoice{}, "auto"}}};
    for (std::size_t k = 0; k < overlap_names.size(); ++k) names[k + 1] = overlap_names[k];
    return names;
}();

/// Whether nodes get a worker for critical tasks: under `auto` each decides by its cores.
[[nodiscard]] CriticalWorker critical_worker(OverlapChoice choice);

[[nodiscard]] std::string_view name(Overlap overlap);
/// Throws Error that lists the steps.
[[nodiscard]] Overlap parse_overlap(std::string_view text);

}  // namespace tesela::geo
