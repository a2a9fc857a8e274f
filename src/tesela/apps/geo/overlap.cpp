#include "tesela/apps/geo/overlap.hpp"

#include "tesela/base/names.hpp"

namespace tesela::geo {
namespace {

constexpr Names<Overlap, 7> names{{{Overlap::sync, "sync"},
                                   {Overlap::async, "async"},
                                   {Overlap::solve, "solve"},
                                   {Overlap::memory, "memory"},
                                   {Overlap::priorities, "priorities"},
                                   {Overlap::order, "order"},
                                   {Overlap::oversubscribe, "oversubscribe"}}};

}  // namespace

std::string_view name(Overlap overlap) { return name_in(names, overlap); }
Overlap parse_overlap(std::string_view text) { return parse_name(names, text, "step of overlap"); }

}  // namespace tesela::geo
