#pragma once

#include "tesela/base/dependencies.hpp"
#include "tesela/base/large_array.hpp"
#include "tesela/sim/internal/copies.hpp"
#include "tesela/sim/internal/durations.hpp"
#include "tesela/sim/internal/resource_numbers.hpp"
#include "tesela/sim/schedule.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tesela::sim {

/// How a task or message uses a copy.
struct Use {
    std::uint32_t copy = 0;
    AccessMode mode = AccessMode::read;
};

/// A task, or a message (`to` is its target; it writes the last copy that it uses). Vertices are looked at in the order
/// of simulated time, which is not theirs: each has a cache line of its own, so that this costs one miss and not two.
struct alignas(64) Vertex {
    static constexpr std::int32_t is_task = -1;
    std::int32_t node = 0;  ///< where it runs, or is sent from
    std::int32_t to = is_task;
    std::int32_t priority = 0;
    std::uint32_t item = 0;
    std::uint32_t work = 0;
    std::uint32_t first_use = 0;
    std::uint32_t use_count = 0;
    Urgency urgency = Urgency::ordinary;
    std::uint8_t resource = 0;  ///< as ResourceNumbers has it
    std::uint16_t stream = 0;   ///< that its item belongs to
    double noise = 1;           ///< factor of its duration
    double bytes = 0;           ///< of a message
    /// What a message carries: a datum and its version, or a parcel of an exchange and its number. Of a task of an
    /// exchange `version` is the number of its parcel.
    static constexpr std::int32_t parcel = -1;
    std::int32_t datum = parcel;
    std::uint32_t version = 0;

    [[nodiscard]] bool message() const { return to != is_task; }
};

/// A step of submission on one node: a task, a message, a change of the stream's workers, or the time in which an
/// exchange asks for a tile.
struct SubmissionStep {
    static constexpr std::uint32_t worker_set = ~std::uint32_t{0};
    static constexpr std::uint32_t tile = worker_set - 1;
    std::uint32_t item = 0;
    std::uint32_t vertex = 0;

    [[nodiscard]] bool has_vertex() const { return vertex < tile; }
};

/// A copy of a matrix that was given up: it goes when its node has submitted so many steps, and its users have ended.
struct GivenUpCopy {
    std::uint32_t steps = 0;
    std::uint32_t copy = 0;
};

/// The part of a stream between two waits as a graph of tasks and messages; vertices are in an order of the stream.
struct Section {
    std::uint32_t first_item = 0;
    LargeArray<Vertex> vertices;
    LargeArray<Use> uses;
    /// What each vertex waits for: counts, and the other way round as lists.
    LargeArray<std::uint32_t> waits_for;
    LargeArray<std::uint32_t> first_successor;
    LargeArray<std::uint32_t> successors;
    /// What each node submits, in order.
    std::vector<std::vector<SubmissionStep>> submissions;
    /// What each node gives up meanwhile, in order.
    std::vector<std::vector<GivenUpCopy>> given_up;
    /// Copies that are there from the beginning, because the caller brought them.
    std::vector<std::uint32_t> initial;
    /// Copies that have their memory from the beginning and no value yet: of tiles of Allocation::at_once on their
    /// owners, which the section is the first to use.
    std::vector<std::uint32_t> at_once;
    /// The exchanges of the items, in order.
    std::vector<SimulatedExchange> exchanges;
    /// Longest chain of least durations.
    double critical_path = 0;
    Index tasks = 0;

    [[nodiscard]] std::span<const Use> uses_of(const Vertex& vertex) const {
        return {uses.data() + vertex.first_use, vertex.use_count};
    }
};

/// What a section is made of.
struct SectionInput {
    const Recording& recording;
    /// Owners at the beginning, by datum: those of the recording, or others.
    const std::vector<std::int32_t>& owners;
    const Platform& platform;
    const std::vector<std::size_t>& type_of_node;
    const std::vector<std::uint16_t>& stream_of_item;
    ResourceNumbers& resources;
    const std::vector<Index>& ranks;
    /// Of a message with a datum.
    const std::vector<double>& message_bytes;
    bool ranks_change_durations = true;
    /// Factor of the duration of an item's task; of an exchange, of one of its tasks.
    std::function<double(std::uint32_t item, std::uint32_t part)> noise;
};

/// Which items are a section: those between two waits, and which of the recording's waits ends it.
struct SectionItems {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    std::uint32_t wait = 0;
};

/// The graph of some items. Advances owners and copies to the end of them. Throws Error naming a kernel that no worker
/// of its node can run.
[[nodiscard]] Section build_section(const SectionInput& input, const SectionItems& items, Copies& copies,
                                    Durations& durations);

}  // namespace tesela::sim
