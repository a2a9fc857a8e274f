#include "tesela/sim/internal/copies.hpp"

#include <utility>

namespace tesela::sim {

void Copies::know(const Recording& recording, const std::vector<double>& bytes) {
    for (std::size_t d = owners_.size(); d < recording.data.size(); ++d) {
        owners_.push_back(recording.data[d].owner);
        bytes_.push_back(bytes[d]);
    }
    versions_.resize(owners_.size(), 0);
    holders_.resize(owners_.size(), 0);
    held_.resize(owners_.size() * nodes_, no_copy);
}

std::uint32_t Copies::add(std::int32_t datum, std::int32_t node) {
    const auto d = static_cast<std::size_t>(datum);
    const auto number = static_cast<std::uint32_t>(copies_.size());
    copies_.push_back({.datum = datum, .node = node, .bytes = bytes_[d], .version = versions_[d]});
    held_[slot(datum, node)] = number;
    ++holders_[d];
    return number;
}

std::uint32_t Copies::add_buffer(std::int32_t datum, std::int32_t node, double bytes) {
    copies_.push_back({.datum = datum, .node = node, .bytes = bytes, .dropped = true});
    return static_cast<std::uint32_t>(copies_.size() - 1);
}

void Copies::drop(std::int32_t datum, std::int32_t node) {
    std::uint32_t& held = held_[slot(datum, node)];
    if (held == no_copy) return;
    copies_[held].dropped = true;
    if (copies_[held].users == 0) unused_.push_back(held);
    held = no_copy;
    --holders_[static_cast<std::size_t>(datum)];
}

void Copies::drop_others(std::int32_t datum, std::int32_t keep) {
    const std::uint16_t kept = find(datum, keep) == no_copy ? 0 : 1;
    for (std::int32_t node = 0;
         node < static_cast<std::int32_t>(nodes_) && holders_[static_cast<std::size_t>(datum)] > kept; ++node)
        if (node != keep) drop(datum, node);
}

std::vector<std::uint32_t> Copies::take_unused() { return std::exchange(unused_, {}); }

}  // namespace tesela::sim
