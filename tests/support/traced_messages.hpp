#pragma once

// The messages that the trace of a run names, to compare with those of a recording.

#include "support/stream_messages.hpp"
#include "tesela/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace tesela::testing {

/// What an engine traced, of all nodes' sends or of all receives.
inline std::multiset<NamedMessage> traced_messages(const trace::Trace& trace, trace::Direction direction) {
    std::multiset<NamedMessage> all;
    for (const trace::MessageRow& row : trace.messages) {
        if (row.direction != direction) continue;
        const bool sent = direction == trace::Direction::send;
        all.insert({.matrix = row.matrix < 0 ? "" : trace.matrices[static_cast<std::size_t>(row.matrix)].name,
                    .tile = {row.i, row.j},
                    .version = static_cast<std::uint32_t>(row.tag >> 48U),
                    .from = sent ? row.node : row.peer,
                    .to = sent ? row.peer : row.node,
                    .bytes = row.bytes});
    }
    return all;
}

inline std::string difference(const std::multiset<NamedMessage>& here, const std::multiset<NamedMessage>& wanted) {
    std::vector<NamedMessage> only;
    std::set_symmetric_difference(here.begin(), here.end(), wanted.begin(), wanted.end(), std::back_inserter(only));
    if (only.empty()) return {};
    const NamedMessage& first = only.front();
    return fmt::format("{} of {} and {} messages differ, such as version {} of tile ({}, {}) of {} from {} to {}; ",
                       only.size(), here.size(), wanted.size(), first.version, first.tile.i, first.tile.j, first.matrix,
                       first.from, first.to);
}

}  // namespace tesela::testing
