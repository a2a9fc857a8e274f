#include "tesela/sim/internal/copies.hpp"

#include <utility>

namespace tesela::sim {

void Copies::know(const Recording& recording, const std::vector<double>& bytes) {
    for (std::size_t d = bytes_.size(); d < recording.data.size(); ++d) {
        directory_.add(recording.data[d].owner, recording.data[d].value);
        bytes_.push_back(bytes[d]);
    }
    held_.resize(bytes_.size() * nodes_, no_copy);
}

std::uint32_t Copies::add(std::int32_t datum, std::int32_t node) {
    const auto number = static_cast<std::uint32_t>(copies_.size());
    copies_.push_back({.datum = datum, .node = node, .bytes = bytes_[static_cast<std::size_t>(datum)]});
    held_[slot(datum, node)] = number;
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
}

std::vector<std::uint32_t> Copies::take_unused() { return std::exchange(unused_, {}); }

}  // namespace tesela::sim
