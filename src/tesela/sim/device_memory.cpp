// The part of the executor that knows memories: main memory of nodes, GPUs and what goes between them.

#include "tesela/sim/internal/executor.hpp"

#include <algorithm>
#include <bit>

namespace tesela::sim {
namespace {

constexpr std::uint64_t data_key(std::uint32_t copy, std::int32_t memory) {
    return static_cast<std::uint64_t>(copy) << 6U | static_cast<std::uint64_t>(memory);
}
/// A waiter that is not a vertex: the copy goes on to a GPU, or nobody waits.
constexpr std::uint32_t onward = 0x80000000U;
constexpr std::uint32_t nobody = 0xffffffffU;
constexpr std::size_t index(DeviceLink::Direction direction) { return static_cast<std::size_t>(direction); }

}  // namespace

void Executor::change_memory(std::int32_t node, std::int32_t memory, double bytes) {
    if (memory == 0) {
        NodeState& state = nodes_[static_cast<std::size_t>(node)];
        state.memory += bytes;
        state.peak = std::max(state.peak, state.memory);
    }
    tell(&ScheduleObserver::memory, ScheduledMemory{.node = node, .memory = memory, .time = now(), .bytes = bytes});
}

void Executor::allocate(std::uint32_t number) {
    Copy& copy = copies_[number];
    if (copy.allocated) return;
    copy.allocated = true;
    change_memory(copy.node, 0, copy.bytes);
}

void Executor::free_copy(std::uint32_t number) {
    Copy& copy = copies_[number];
    NodeState& node = nodes_[static_cast<std::size_t>(copy.node)];
    while (copy.resident != 0) {
        const auto memory = static_cast<std::size_t>(std::countr_zero(copy.resident));
        drop_resident(node.places[node.place_of_memory[memory]], number);
        retry_waiting(copy.node, node.place_of_memory[memory]);
    }
    ++copy.writes;  // what is on its way is not wanted any more
    copy.valid = 0;
    copy.fetching = 0;
    if (copy.allocated) change_memory(copy.node, 0, -copy.bytes);
    copy.allocated = false;
}

/// A new value in one memory: it is in no other.
void Executor::written(std::uint32_t number, std::int32_t memory) {
    Copy& copy = copies_[number];
    NodeState& node = nodes_[static_cast<std::size_t>(copy.node)];
    ++copy.writes;
    copy.valid = bit(memory);
    copy.fetching = 0;
    for (std::uint32_t others = copy.resident & ~bit(memory); others != 0; others &= others - 1) {
        const std::size_t place = node.place_of_memory[static_cast<std::size_t>(std::countr_zero(others))];
        drop_resident(node.places[place], number);
        retry_waiting(copy.node, place);
    }
}

/// Brings a copy into a memory of its node, from main memory or through it, and remembers who waits for it.
void Executor::request(std::uint32_t number, std::int32_t memory, std::uint32_t waiter) {
    Copy& copy = copies_[number];
    const NodeState& node = nodes_[static_cast<std::size_t>(copy.node)];
    if (waiter != nobody) data_waiters_[data_key(number, memory)].push_back(waiter);
    if ((copy.fetching & bit(memory)) != 0) return;
    copy.fetching |= bit(memory);
    if (memory == 0) {
        const auto source = static_cast<std::size_t>(std::countr_zero(copy.valid));
        push_transfer(copy.node, node.place_of_memory[source], DeviceLink::Direction::to_host, number);
    } else if ((copy.valid & main_memory) != 0) {
        push_transfer(copy.node, node.place_of_memory[static_cast<std::size_t>(memory)],
                      DeviceLink::Direction::to_device, number);
    } else {
        request(number, 0, onward | static_cast<std::uint32_t>(memory));
    }
}

void Executor::push_transfer(std::int32_t node, std::size_t place, DeviceLink::Direction direction,
                             std::uint32_t copy) {
    DeviceLink& link = nodes_[static_cast<std::size_t>(node)].places[place].links[index(direction)];
    link.transfers.push_back({copy, copies_[copy].writes});
    if (!link.busy) start_transfer(node, place, direction);
}

void Executor::start_transfer(std::int32_t node, std::size_t p, DeviceLink::Direction direction) {
    const PlaceState& place = nodes_[static_cast<std::size_t>(node)].places[p];
    DeviceLink& link = nodes_[static_cast<std::size_t>(node)].places[p].links[index(direction)];
    link.busy = true;
    timeline_->set_timer(
        now() + copies_[link.transfers.front().copy].bytes / place.place->host_bandwidth,
        pack({.kind = direction == DeviceLink::Direction::to_host ? TimerKind::to_host : TimerKind::to_device,
              .node = node,
              .part = p}));
}

void Executor::transfer_ended(std::int32_t node, std::size_t p, DeviceLink::Direction direction) {
    PlaceState& place = nodes_[static_cast<std::size_t>(node)].places[p];
    DeviceLink& link = place.links[index(direction)];
    const DeviceLink::Transfer transfer = link.transfers.front();
    link.transfers.pop_front();
    link.busy = false;
    if (!link.transfers.empty()) start_transfer(node, p, direction);
    Copy& copy = copies_[transfer.copy];
    if (transfer.writes != copy.writes) return;
    const std::int32_t memory = direction == DeviceLink::Direction::to_host ? 0 : place.place->memory;
    copy.valid |= bit(memory);
    copy.fetching &= ~bit(memory);
    if (memory == 0) {
        const auto leaving = place.resident.find(transfer.copy);
        if (leaving != place.resident.end() && leaving->second.written_back) {
            drop_resident(place, transfer.copy);
            retry_waiting(node, p);
        }
    }
    wake(transfer.copy, memory);
}

void Executor::wake(std::uint32_t number, std::int32_t memory) {
    const auto entry = data_waiters_.find(data_key(number, memory));
    if (entry == data_waiters_.end()) return;
    const std::vector<std::uint32_t> waiters = std::move(entry->second);
    data_waiters_.erase(entry);
    const std::int32_t node = copies_[number].node;
    const NodeState& state = nodes_[static_cast<std::size_t>(node)];
    for (const std::uint32_t waiter : waiters) {
        if ((waiter & onward) != 0) {
            push_transfer(node, state.place_of_memory[waiter & ~onward], DeviceLink::Direction::to_device, number);
            continue;
        }
        const Vertex& vertex = section_->vertices[waiter];
        if (--progress_[waiter].missing > 0) continue;
        if (vertex.message()) {
            send(channels_.ready(waiter));
        } else {
            PlaceState& place = nodes_[static_cast<std::size_t>(node)].places[progress_[waiter].place];
            place.complete[static_cast<std::size_t>(vertex.urgency)].push({vertex.priority, waiter});
            touch(node);
        }
    }
}

const std::vector<std::uint32_t>& Executor::distinct_copies(std::uint32_t v) {
    distinct_.clear();
    for (const Use& use : section_->uses_of(section_->vertices[v]))
        if (std::find(distinct_.begin(), distinct_.end(), use.copy) == distinct_.end()) distinct_.push_back(use.copy);
    return distinct_;
}

/// Room on a GPU for all tiles of a task, at once or not at all, so that tasks never wait for each other's room.
bool Executor::reserve(std::uint32_t v, PlaceState& place) {
    const std::uint32_t here = bit(place.place->memory);
    double needed = 0;
    // What the task uses and is there already must not make room for the rest.
    for (const std::uint32_t number : distinct_copies(v)) {
        const auto resident = place.resident.find(number);
        if (resident == place.resident.end()) {
            needed += copies_[number].bytes;
            continue;
        }
        if (resident->second.written_back)
            place.leaving_bytes -= copies_[number].bytes;
        else if (resident->second.pins == 0)
            place.evictable.erase(resident->second.in_line);
        resident->second.written_back = false;
        ++resident->second.pins;
    }
    if (!make_room(place, needed)) {
        unpin(v, place);
        return false;
    }
    for (const std::uint32_t number : distinct_copies(v)) {
        Copy& copy = copies_[number];
        if ((copy.resident & here) != 0) continue;
        copy.resident |= here;
        place.resident[number].pins = 1;
        place.free_bytes -= copy.bytes;
        change_memory(copy.node, place.place->memory, copy.bytes);
    }
    return true;
}

/// Drops the tiles that were not used for longest; those whose only value is here are written back first, and the room
/// is there later.
bool Executor::make_room(PlaceState& place, double bytes) {
    while (place.free_bytes < bytes && place.free_bytes + place.leaving_bytes < bytes && !place.evictable.empty()) {
        const std::uint32_t oldest = place.evictable.front();
        if ((copies_[oldest].valid & ~bit(place.place->memory)) != 0) {
            drop_resident(place, oldest);
            continue;
        }
        place.evictable.pop_front();
        place.resident[oldest].written_back = true;
        place.leaving_bytes += copies_[oldest].bytes;
        request(oldest, 0, nobody);
    }
    return place.free_bytes >= bytes;
}

void Executor::drop_resident(PlaceState& place, std::uint32_t number) {
    const auto entry = place.resident.find(number);
    Copy& copy = copies_[number];
    if (entry->second.written_back)
        place.leaving_bytes -= copy.bytes;
    else if (entry->second.pins == 0)
        place.evictable.erase(entry->second.in_line);
    place.resident.erase(entry);
    place.free_bytes += copy.bytes;
    copy.resident &= ~bit(place.place->memory);
    copy.valid &= ~bit(place.place->memory);
    change_memory(copy.node, place.place->memory, -copy.bytes);
}

void Executor::unpin(std::uint32_t v, PlaceState& place) {
    for (const std::uint32_t number : distinct_copies(v)) {
        const auto entry = place.resident.find(number);
        if (entry == place.resident.end() || --entry->second.pins > 0) continue;
        entry->second.in_line = place.evictable.insert(place.evictable.end(), number);
    }
}

/// Tasks that found no room, in order.
void Executor::retry_waiting(std::int32_t node, std::size_t p) {
    PlaceState& place = nodes_[static_cast<std::size_t>(node)].places[p];
    if (place.retrying) return;
    place.retrying = true;
    while (!place.without_room.empty() && reserve(place.without_room.front(), place)) {
        const std::uint32_t v = place.without_room.front();
        place.without_room.pop_front();
        fetch_missing(v, node, p);
        touch(node);
    }
    place.retrying = false;
}

}  // namespace tesela::sim
