#include "tesela/sim/internal/copies.hpp"

#include <algorithm>
#include <utility>

namespace tesela::sim {

void Copies::know(const Recording& recording, const std::vector<std::int32_t>& owners,
                  const std::vector<double>& bytes) {
    for (std::size_t d = bytes_.size(); d < recording.data.size(); ++d) {
        directory_.add(owners[d], recording.data[d].value);
        bytes_.push_back(bytes[d]);
    }
    is_known_.resize(bytes_.size(), false);
    held_.resize(bytes_.size() * nodes_, no_copy);
}

std::uint32_t Copies::add(std::int32_t datum, std::int32_t node) {
    return held_[slot(datum, node)] =
               append({.datum = datum, .node = node, .bytes = bytes_[static_cast<std::size_t>(datum)]});
}

bool Copies::is_new(std::int32_t datum) {
    const auto known = is_known_.begin() + datum;
    if (*known) return false;
    return *known = true;
}

std::uint32_t Copies::add_buffer(std::int32_t datum, std::int32_t node, double bytes) {
    return append({.datum = datum, .node = node, .bytes = bytes, .dropped = true});
}

std::uint32_t Copies::append(const Copy& copy) {
    const auto number = static_cast<std::uint32_t>(copies_.size());
    auto& of_node = of_node_[static_cast<std::size_t>(copy.node)];
    copies_.push_back(copy);
    copies_.back().on_node = static_cast<std::uint32_t>(of_node.size());
    of_node.push_back(number);
    most_bytes_ = std::max(most_bytes_, copy.bytes);
    return number;
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
