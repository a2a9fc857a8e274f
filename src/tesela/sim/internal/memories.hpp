#pragma once

#include "tesela/sim/allocation_costs.hpp"
#include "tesela/sim/gpu_traffic.hpp"
#include "tesela/sim/internal/cluster.hpp"
#include "tesela/sim/internal/gpu_memory.hpp"
#include "tesela/sim/internal/section.hpp"
#include "tesela/sim/internal/task_memory.hpp"
#include "tesela/sim/schedule.hpp"
#include "tesela/sim/timeline.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace tesela::sim {

/// Who is told what happens in memories.
class MemoryHandler : public Interface {
public:
    /// All data that a task or message had to wait for are where it needs them.
    virtual void data_there(std::uint32_t v) = 0;
    /// A task that was staged without room on its GPU has it now.
    virtual void room_found(std::uint32_t v) = 0;
};

/// Between main memory and a GPU.
enum class Direction : std::uint8_t { to_device, to_host };

/// What the memories of all nodes hold: main memory, which takes whatever comes, and those of GPUs, from which tiles
/// are evicted. Memory 0 of a node is main memory, then GPU by GPU; tiles go from GPU to GPU through main memory.
class Memories final : public TaskMemory {
public:
    Memories(const Cluster& cluster, Copies& copies, Timeline& timeline,
             const std::vector<ScheduleObserver*>& observers, MemoryHandler& handler);

    /// What comes from now on is of this section, and what the caller brought for it is there.
    void begin(const Section& section);
    /// A copy that is about to be written takes room in main memory, whatever memory it is written in.
    void allocate(std::uint32_t copy);
    /// A new value in one memory: it is in no other.
    void written(std::uint32_t copy, std::int32_t memory);
    /// A task or message has ended: copies that were kept for it alone go.
    void forget_uses(std::uint32_t v);
    /// One that used a copy does so no longer.
    void forget_use(std::uint32_t copy);

    [[nodiscard]] bool fits(std::uint32_t task, std::int32_t memory) const override;
    [[nodiscard]] double seconds_to_bring(std::uint32_t task, std::int32_t memory) const override;
    /// For tasks, and with main memory for messages, which leave from there.
    [[nodiscard]] bool stage(std::uint32_t v, std::int32_t memory) override;
    void unstage(std::uint32_t task, std::int32_t memory) override;
    [[nodiscard]] double seconds_owed(std::int32_t memory, std::int32_t node) override;
    /// From now on workers of GPUs take this time to get memory there; what was used before is used again.
    void charge_gpus(const MemoryPrice& price) { gpu_price_ = price; }
    /// Whether a node has had so much more main memory in use than now.
    [[nodiscard]] bool has_been_used(std::int32_t node, double bytes) const {
        const Node& at = nodes_[static_cast<std::size_t>(node)];
        return at.used + bytes <= at.peak;
    }
    /// A timer of kind TimerKind::to_device or to_host says so.
    void transfer_ended(std::int32_t node, std::int32_t memory, Direction direction);

    /// The most bytes that were in use in a node's main memory at a time.
    [[nodiscard]] double peak(std::size_t node) const { return nodes_[node].peak; }
    /// What went to the GPUs of a node and back.
    [[nodiscard]] const GpuTraffic& traffic(std::size_t node) const { return nodes_[node].traffic; }

private:
    /// One direction between main memory and a GPU: one tile at a time, in order.
    struct Link {
        struct Transfer {
            std::uint32_t copy = 0;
            std::uint32_t writes = 0;  ///< of the copy when it was asked for
        };
        std::deque<Transfer> transfers{};
        bool busy = false;
    };
    struct Gpu {
        explicit Gpu(const Place& place) : memory(place.memory_bytes), bandwidth(place.host_bandwidth) {}
        GpuMemory memory;
        double bandwidth;  ///< to and from main memory
        Link links[2]{};
        std::deque<std::uint32_t> without_room{};  ///< staged tasks, in order
        bool retrying = false;
        double most_used = 0;     ///< bytes at a time
        double seconds_owed = 0;  ///< by its worker
    };
    /// Who waits for a copy in a memory of its node, in the list of all that wait for the copy: there are few of them.
    struct Waiter {
        std::uint32_t who = 0;
        std::int32_t memory = 0;
        std::uint32_t next = 0;
    };
    struct Node {
        std::vector<Gpu> gpus{};
        double used = 0;  ///< of main memory
        double peak = 0;
        GpuTraffic traffic{};
    };

    [[nodiscard]] std::span<const Use> uses_of(std::uint32_t v) const {
        return section_->uses_of(section_->vertices[v]);
    }
    [[nodiscard]] Node& node_of(const Copy& copy) { return nodes_[static_cast<std::size_t>(copy.node)]; }
    [[nodiscard]] const Node& node_of(std::uint32_t v) const {
        return nodes_[static_cast<std::size_t>(section_->vertices[v].node)];
    }
    [[nodiscard]] Gpu& gpu(std::int32_t node, std::int32_t memory) {
        return nodes_[static_cast<std::size_t>(node)].gpus[static_cast<std::size_t>(memory - 1)];
    }
    /// Each copy that a task uses, once.
    template <class Function>
    void for_each_copy(std::uint32_t task, const Function& function) {
        const auto uses = uses_of(task);
        for (auto use = uses.begin(); use != uses.end(); ++use)
            if (std::none_of(uses.begin(), use, [&](const Use& before) { return before.copy == use->copy; }))
                function(use->copy);
    }
    void tell_change(std::int32_t node, std::int32_t memory, double bytes);
    void free(std::uint32_t copy);

    // Where copies are, and bringing them elsewhere.
    [[nodiscard]] bool bring(std::uint32_t v, std::int32_t memory);
    void request(std::uint32_t copy, std::int32_t memory);
    void wait_for(std::uint32_t copy, std::int32_t memory, std::uint32_t waiter);
    void push_transfer(std::uint32_t copy, std::int32_t memory, Direction direction);
    void start_transfer(std::int32_t node, std::int32_t memory, Direction direction);
    void wake(std::uint32_t copy, std::int32_t memory);

    // Room on GPUs.
    [[nodiscard]] bool reserve(std::uint32_t task, std::int32_t memory);
    [[nodiscard]] bool make_room(std::int32_t node, std::int32_t memory, double bytes);
    void charge(Gpu& device, double bytes);
    void unpin(std::uint32_t task, GpuMemory& memory);
    void drop(std::uint32_t copy, std::int32_t memory);
    void evict(std::uint32_t copy, std::int32_t memory);
    void retry(std::int32_t node, std::int32_t memory);

    Copies& copies_;
    Timeline& timeline_;
    const std::vector<ScheduleObserver*>& observers_;
    MemoryHandler& handler_;
    std::vector<Node> nodes_;
    MemoryPrice gpu_price_{};
    const Section* section_ = nullptr;
    std::vector<std::uint16_t> missing_;  // of each vertex, tiles on their way
    std::vector<Waiter> waiters_{1};      // number 0 is none
    std::uint32_t free_waiter_ = 0;
    std::vector<std::uint32_t> woken_;
};

}  // namespace tesela::sim
