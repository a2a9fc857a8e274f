#include "tesela/sim/internal/memories.hpp"

#include "tesela/sim/internal/observers.hpp"
#include "tesela/sim/internal/timers.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tesela::sim {
namespace {

constexpr std::int32_t main_memory = 0;
/// Memories of a node as bits.
constexpr std::uint32_t bit(std::int32_t memory) { return 1U << static_cast<unsigned>(memory); }
constexpr std::int32_t first_of(std::uint32_t memories) { return std::countr_zero(memories); }

/// A waiter that is not a vertex: the copy goes on to a GPU.
constexpr std::uint32_t onward = 0x80000000U;
constexpr std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }

}  // namespace

Memories::Memories(const Cluster& cluster, Copies& copies, Timeline& timeline,
                   const std::vector<ScheduleObserver*>& observers, MemoryHandler& handler)
    : copies_(copies),
      timeline_(timeline),
      observers_(observers),
      handler_(handler),
      nodes_(cluster.nodes()) {
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        for (const Place& place : cluster.places_of(static_cast<std::int32_t>(node)))
            if (place.is_gpu()) nodes_[node].gpus.emplace_back(place);
}

void Memories::begin(const Section& section) {
    section_ = &section;
    missing_.assign(section.vertices.size(), 0);
    for (const std::uint32_t copy : section.initial) {
        allocate(copy);
        copies_[copy].valid = bit(main_memory);
    }
    for (const std::uint32_t copy : copies_.take_unused()) free(copy);
}

void Memories::tell_change(std::int32_t node, std::int32_t memory, double bytes) {
    tell(observers_, &ScheduleObserver::memory,
         ScheduledMemory{.node = node, .memory = memory, .time = timeline_.now(), .bytes = bytes});
}

void Memories::allocate(std::uint32_t number) {
    Copy& copy = copies_[number];
    if (copy.allocated) return;
    copy.allocated = true;
    Node& node = node_of(copy);
    node.used += copy.bytes;
    node.peak = std::max(node.peak, node.used);
    tell_change(copy.node, main_memory, copy.bytes);
}

void Memories::free(std::uint32_t number) {
    Copy& copy = copies_[number];
    while (copy.resident != 0) {
        const std::int32_t memory = first_of(copy.resident);
        drop(number, memory);
        retry(copy.node, memory);
    }
    ++copy.writes;  // what is on its way is not wanted any more
    copy.valid = 0;
    copy.fetching = 0;
    if (!copy.allocated) return;
    copy.allocated = false;
    node_of(copy).used -= copy.bytes;
    tell_change(copy.node, main_memory, -copy.bytes);
}

void Memories::written(std::uint32_t number, std::int32_t memory) {
    Copy& copy = copies_[number];
    ++copy.writes;
    copy.valid = bit(memory);
    copy.fetching = 0;
    for (std::uint32_t others = copy.resident & ~bit(memory); others != 0; others &= others - 1) {
        drop(number, first_of(others));
        retry(copy.node, first_of(others));
    }
}

void Memories::forget_uses(std::uint32_t v) {
    for (const Use& use : uses_of(v)) forget_use(use.copy);
}

void Memories::forget_use(std::uint32_t number) {
    Copy& copy = copies_[number];
    if (--copy.users == 0 && copy.dropped) free(number);
}

bool Memories::fits(std::uint32_t task, std::int32_t memory) const {
    if (memory == main_memory) return true;
    const double size = node_of(task).gpus[static_cast<std::size_t>(memory - 1)].memory.size();
    const auto uses = uses_of(task);
    if (static_cast<double>(uses.size()) * copies_.most_bytes() <= size) return true;  // the copies need no look
    double bytes = 0;
    for (const Use& use : uses) bytes += copies_[use.copy].bytes;
    return bytes <= size;
}

double Memories::seconds_to_bring(std::uint32_t task, std::int32_t memory) const {
    const std::vector<Gpu>& gpus = node_of(task).gpus;
    if (gpus.empty()) return 0;
    const auto bandwidth = [&](std::int32_t of) { return gpus[static_cast<std::size_t>(of - 1)].bandwidth; };
    double total = 0;
    for (const Use& use : uses_of(task)) {
        const Copy& copy = copies_[use.copy];
        if (!reads(use.mode) || ((copy.valid | copy.fetching) & bit(memory)) != 0 || copy.valid == 0) continue;
        if (memory != main_memory) total += copy.bytes / bandwidth(memory);
        if ((copy.valid & bit(main_memory)) == 0) total += copy.bytes / bandwidth(first_of(copy.valid));
    }
    return total;
}

bool Memories::stage(std::uint32_t v, std::int32_t memory) {
    if (memory != main_memory) {
        Gpu& where = gpu(section_->vertices[v].node, memory);
        if (!where.without_room.empty() || !reserve(v, memory)) {
            where.without_room.push_back(v);
            return false;
        }
    }
    return bring(v, memory);
}

void Memories::unstage(std::uint32_t task, std::int32_t memory) {
    if (memory == main_memory) return;
    const std::int32_t node = section_->vertices[task].node;
    unpin(task, gpu(node, memory).memory);
    retry(node, memory);
}

// --- where copies are
// -------------------------------------------------------------------------------------------------

/// Brings what a task or message reads into a memory; true if all of it is there.
bool Memories::bring(std::uint32_t v, std::int32_t memory) {
    for (const Use& use : uses_of(v)) {
        if (!reads(use.mode) || (copies_[use.copy].valid & bit(memory)) != 0) continue;
        ++missing_[v];
        wait_for(use.copy, memory, v);
        request(use.copy, memory);
    }
    return missing_[v] == 0;
}

void Memories::wait_for(std::uint32_t copy, std::int32_t memory, std::uint32_t waiter) {
    std::uint32_t added = free_waiter_;
    if (added == 0) {
        added = static_cast<std::uint32_t>(waiters_.size());
        waiters_.emplace_back();
    } else {
        free_waiter_ = waiters_[added].next;
    }
    waiters_[added] = {.who = waiter, .memory = memory};
    std::uint32_t* last = &copies_[copy].waiter;
    while (*last != 0) last = &waiters_[*last].next;
    *last = added;
}

/// Brings a copy into a memory of its node, from main memory or through it.
void Memories::request(std::uint32_t number, std::int32_t memory) {
    Copy& copy = copies_[number];
    if ((copy.fetching & bit(memory)) != 0) return;
    copy.fetching |= bit(memory);
    if (memory == main_memory) {
        push_transfer(number, first_of(copy.valid), Direction::to_host);
    } else if ((copy.valid & bit(main_memory)) != 0) {
        push_transfer(number, memory, Direction::to_device);
    } else {
        wait_for(number, main_memory, onward | static_cast<std::uint32_t>(memory));
        request(number, main_memory);
    }
}

void Memories::push_transfer(std::uint32_t number, std::int32_t memory, Direction direction) {
    const Copy& copy = copies_[number];
    Link& link = gpu(copy.node, memory).links[index(direction)];
    link.transfers.push_back({number, copy.writes});
    if (!link.busy) start_transfer(copy.node, memory, direction);
}

void Memories::start_transfer(std::int32_t node, std::int32_t memory, Direction direction) {
    Gpu& device = gpu(node, memory);
    Link& link = device.links[index(direction)];
    link.busy = true;
    timeline_.set_timer(timeline_.now() + copies_[link.transfers.front().copy].bytes / device.bandwidth,
                        pack({.kind = direction == Direction::to_host ? TimerKind::to_host : TimerKind::to_device,
                              .node = node,
                              .part = static_cast<std::size_t>(memory)}));
}

void Memories::transfer_ended(std::int32_t node, std::int32_t memory, Direction direction) {
    Gpu& device = gpu(node, memory);
    Link& link = device.links[index(direction)];
    const Link::Transfer transfer = link.transfers.front();
    link.transfers.pop_front();
    link.busy = false;
    if (!link.transfers.empty()) start_transfer(node, memory, direction);
    Copy& copy = copies_[transfer.copy];
    GpuTraffic& traffic = nodes_[static_cast<std::size_t>(node)].traffic;
    (direction == Direction::to_host ? traffic.to_host : traffic.to_gpus) += copy.bytes;
    if (transfer.writes != copy.writes) return;
    const std::int32_t target = direction == Direction::to_host ? main_memory : memory;
    copy.valid |= bit(target);
    copy.fetching &= ~bit(target);
    if (target == main_memory && device.memory.leaves(copy.on_node)) {
        evict(transfer.copy, memory);
        retry(node, memory);
    }
    wake(transfer.copy, target);
}

void Memories::wake(std::uint32_t number, std::int32_t memory) {
    std::vector<std::uint32_t> woken = std::move(woken_);
    woken.clear();
    std::uint32_t* at = &copies_[number].waiter;
    while (*at != 0) {
        const std::uint32_t found = *at;
        Waiter& waiter = waiters_[found];
        if (waiter.memory != memory) {
            at = &waiter.next;
            continue;
        }
        woken.push_back(waiter.who);
        *at = waiter.next;
        waiter.next = std::exchange(free_waiter_, found);
    }
    for (const std::uint32_t waiter : woken) {
        if ((waiter & onward) != 0)
            push_transfer(number, static_cast<std::int32_t>(waiter & ~onward), Direction::to_device);
        else if (--missing_[waiter] == 0)
            handler_.data_there(waiter);
    }
    woken_ = std::move(woken);  // its room is used again
}

// --- room on GPUs
// -----------------------------------------------------------------------------------------------------

/// Room on a GPU for all tiles of a task, at once or not at all, so that tasks never wait for each other's room.
bool Memories::reserve(std::uint32_t task, std::int32_t memory) {
    const std::int32_t node = section_->vertices[task].node;
    GpuMemory& here = gpu(node, memory).memory;
    double needed = 0;
    // What the task uses and is there already must not make room for the rest.
    for_each_copy(task, [&](std::uint32_t copy) {
        if (!here.pin(copies_[copy].on_node)) needed += copies_[copy].bytes;
    });
    if (!make_room(node, memory, needed)) {
        unpin(task, here);
        return false;
    }
    for_each_copy(task, [&](std::uint32_t number) {
        Copy& copy = copies_[number];
        if ((copy.resident & bit(memory)) != 0) return;
        copy.resident |= bit(memory);
        here.add(copy.on_node, copy.bytes);
        charge(gpu(node, memory), copy.bytes);
        tell_change(node, memory, copy.bytes);
    });
    return true;
}

/// A piece of memory that no tile had before costs its price.
void Memories::charge(Gpu& device, double bytes) {
    const double used = device.memory.size() - device.memory.free();
    if (used <= device.most_used) return;
    device.most_used = used;
    device.seconds_owed += gpu_price_(bytes);
}

double Memories::seconds_owed(std::int32_t memory, std::int32_t node) {
    return memory == main_memory ? 0 : std::exchange(gpu(node, memory).seconds_owed, 0);
}

/// Drops the tiles that were not used for longest; those whose only value is here are written back first, and the room
/// is there later.
bool Memories::make_room(std::int32_t node, std::int32_t memory, double bytes) {
    GpuMemory& here = gpu(node, memory).memory;
    while (!here.will_have_room(bytes)) {
        const auto oldest = here.oldest();
        if (!oldest) break;
        const std::uint32_t number = copies_.of_node(node, *oldest);
        if ((copies_[number].valid & ~bit(memory)) != 0) {
            evict(number, memory);
        } else {
            here.leave(*oldest);
            request(number, main_memory);
        }
    }
    return here.has_room(bytes);
}

void Memories::unpin(std::uint32_t task, GpuMemory& memory) {
    for_each_copy(task, [&](std::uint32_t copy) { memory.unpin(copies_[copy].on_node); });
}

void Memories::drop(std::uint32_t number, std::int32_t memory) {
    Copy& copy = copies_[number];
    const double bytes = gpu(copy.node, memory).memory.drop(copy.on_node);
    copy.resident &= ~bit(memory);
    copy.valid &= ~bit(memory);
    tell_change(copy.node, memory, -bytes);
}

/// For room.
void Memories::evict(std::uint32_t number, std::int32_t memory) {
    node_of(copies_[number]).traffic.evicted += copies_[number].bytes;
    drop(number, memory);
}

/// Tasks that found no room, in order.
void Memories::retry(std::int32_t node, std::int32_t memory) {
    Gpu& device = gpu(node, memory);
    if (device.retrying) return;
    device.retrying = true;
    while (!device.without_room.empty() && reserve(device.without_room.front(), memory)) {
        const std::uint32_t task = device.without_room.front();
        device.without_room.pop_front();
        if (bring(task, memory)) handler_.data_there(task);
        handler_.room_found(task);
    }
    device.retrying = false;
}

}  // namespace tesela::sim
