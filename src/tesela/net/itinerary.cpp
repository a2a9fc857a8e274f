#include "tesela/net/itinerary.hpp"

#include <fmt/format.h>

namespace tesela::net {
namespace {

/// Its address is another in each thread.
const void* this_thread() {
    thread_local const char mark = 0;
    return &mark;
}

}  // namespace

bool Itinerary::count() {
    if (several_threads_.load(std::memory_order_relaxed)) return false;
    const void* const me = this_thread();
    const void* known = thread_.load(std::memory_order_relaxed);
    if (known != me && (known != nullptr || !thread_.compare_exchange_strong(known, me))) {
        several_threads_ = true;
        return false;
    }
    // One thread writes. Whoever hears of another node sets what it expects and then looks here: one of the two sees
    // it.
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    return true;
}

std::optional<Elsewhere> Itinerary::step() {
    if (!count() || count_.load(std::memory_order_relaxed) < expected_count_.load()) return {};
    return beyond();
}

std::optional<Elsewhere> Itinerary::beyond() {
    const std::lock_guard lock(mutex_);
    return elsewhere("goes on");
}

/// Under `mutex_`.
Elsewhere Itinerary::elsewhere(const std::string& here) const {
    return {expected_node_, expected_.topic, expected_described_, here};
}

std::optional<Elsewhere> Itinerary::arrive(Arrival& arrival, const std::string& described) {
    const std::lock_guard lock(mutex_);
    if (!count()) return {};
    arrival.count = count_.load();
    here_ = {arrival.topic, arrival.round};
    here_described_ = described;
    if (arrival.count < expected_count_.load()) return {};
    expected_count_ = nowhere;
    if (expected_ == here_) return {};
    return elsewhere(described);
}

void Itinerary::leave() {
    const std::lock_guard lock(mutex_);
    here_ = {};
}

std::optional<Elsewhere> Itinerary::heard(int node, const Arrival& arrival, const std::string& described) {
    const std::lock_guard lock(mutex_);
    const Place there{arrival.topic, arrival.round};
    if (arrival.count == 0 || several_threads_ || there == here_) return {};
    expected_ = there;
    expected_node_ = node;
    expected_described_ = described;
    expected_count_ = arrival.count;
    if (count_.load() < arrival.count) return {};
    return elsewhere(here_ != Place{} ? here_described_ : "does something else");
}

std::string Itinerary::here() {
    const std::lock_guard lock(mutex_);
    return here_ == Place{} ? "" : here_described_;
}

}  // namespace tesela::net
