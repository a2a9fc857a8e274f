#pragma once

// What tests of one part of the simulator need around it: a section made by hand, and time that they move themselves.

#include "support.hpp"
#include "tesela/sim/internal/section.hpp"
#include "tesela/sim/internal/timers.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tesela::testing {

/// Remembers the timers that are set.
class StoppedTimeline final : public Timeline {
public:
    struct Timer {
        double time = 0;
        sim::TimerWord word;
    };
    double time = 0;
    std::vector<Timer> timers;

    [[nodiscard]] double now() const override { return time; }
    void set_timer(double at, std::uint64_t what) override { timers.push_back({at, sim::unpack(what)}); }
    void send(const SimulatedMessage&) override {}
    void run(TimelineHandler&) override {}

    /// Goes to the first timer that was set and not taken.
    Timer take() {
        const auto first =
            std::ranges::min_element(timers, [](const Timer& a, const Timer& b) { return a.time < b.time; });
        const Timer taken = *first;
        timers.erase(first);
        time = taken.time;
        return taken;
    }
};

/// Copies of a tile each, and a section that uses them.
struct HandMade {
    explicit HandMade(std::int32_t nodes) : copies(nodes) {}
    sim::Copies copies;
    sim::Section section;

    /// A copy on a node that nothing drops.
    std::uint32_t copy(std::int32_t node = 0) {
        const std::uint32_t number = copies.add_buffer(0, node, tile_of_doubles);
        copies[number].dropped = false;
        return number;
    }
    /// A copy that the caller brings.
    std::uint32_t given_copy(std::int32_t node = 0) {
        section.initial.push_back(copy(node));
        return section.initial.back();
    }
    std::uint32_t add(const sim::Vertex& described, const std::vector<sim::Use>& uses = {}) {
        sim::Vertex& vertex = section.vertices.emplace_back(described);
        vertex.first_use = static_cast<std::uint32_t>(section.uses.size());
        vertex.use_count = static_cast<std::uint32_t>(uses.size());
        for (const sim::Use& use : uses) ++copies[use.copy].users;
        section.uses.insert(section.uses.end(), uses.begin(), uses.end());
        return static_cast<std::uint32_t>(section.vertices.size() - 1);
    }
};

}  // namespace tesela::testing
