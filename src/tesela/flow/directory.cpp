#include "tesela/flow/directory.hpp"

#include <algorithm>
#include <numeric>

namespace tesela {

Directory::Directory(Index nodes) : nodes_(nodes), words_(static_cast<std::size_t>(ceil_div(nodes, 64))) {}

void Directory::add(std::int32_t owner, Value value) {
    const bool given = value == Value::given;
    entries_.push_back({.owner = owner, .version = given ? 1U : 0U, .valued = given ? 1U : 0U});
    if (words_ > 1) more_.resize(entries_.size() * words_, 0);
    set(entries_.size() - 1, owner);
}

std::vector<std::int32_t> Directory::everyone() const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(nodes_));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// The owner, then those that do not hold it, counted onwards from the owner, so that trees of different owners load
/// different nodes.
void Directory::list_missing(std::size_t datum, std::span<const std::int32_t> readers) {
    const auto all = static_cast<std::int32_t>(nodes_);
    const std::int32_t first = owner(datum);
    relay_.assign(1, first);
    for (const std::int32_t node : readers)
        if (!holds(datum, node)) relay_.push_back(node);
    const auto distance = [&](std::int32_t node) { return (node - first + all) % all; };
    std::sort(relay_.begin() + 1, relay_.end(),
              [&](std::int32_t a, std::int32_t b) { return distance(a) < distance(b); });
    relay_.erase(std::unique(relay_.begin() + 1, relay_.end()), relay_.end());
}

/// Binomial: place p hands on to p + 2ᵏ for each 2ᵏ below its lowest bit, the largest part of the tree first.
void Directory::list_children(std::size_t place, std::size_t count) {
    children_.clear();
    const std::size_t lowest = place == 0 ? std::bit_ceil(count) : place & (~place + 1);
    for (std::size_t step = lowest / 2; step > 0; step /= 2)
        if (place + step < count) children_.push_back(relay_[place + step]);
}

}  // namespace tesela
