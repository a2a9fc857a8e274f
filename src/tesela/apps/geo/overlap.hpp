#pragma once

#include "tesela/base/names.hpp"

#include <cstdint>
#include <string_view>

namespace tesela::geo {

/// The steps of paper 000, section 4.2.1 and figure 7, each with those before it: phases that wait for each other; none
/// that does; the local solve; tiles kept across evaluations; priorities of the critical path; generation submitted in
/// the order of priority; a worker for critical tasks on a shared core (an option of the engine, which the caller
/// starts: CriticalWorker::shared_core).
enum class Overlap : std::uint8_t { sync, async, solve, memory, priorities, order, oversubscribe };
inline constexpr Names<Overlap, 7> overlap_names{{{Overlap::sync, "sync"},
                                                  {Overlap::async, "async"},
                                                  {Overlap::solve, "solve"},
                                                  {Overlap::memory, "memory"},
                                                  {Overlap::priorities, "priorities"},
                                                  {Overlap::order, "order"},
                                                  {Overlap::oversubscribe, "oversubscribe"}}};

[[nodiscard]] std::string_view name(Overlap overlap);
/// Throws Error that lists the steps.
[[nodiscard]] Overlap parse_overlap(std::string_view text);

}  // namespace tesela::geo
