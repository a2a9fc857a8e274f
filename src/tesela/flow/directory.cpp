#include "tesela/flow/directory.hpp"

#include <bit>
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
/// different nodes. They are marked, which needs no order and takes each once, and read off in that order.
void Directory::list_missing(std::size_t datum, std::span<const std::int32_t> readers) {
    missing_.assign(words_, 0);
    for (const std::int32_t node : readers) mark(missing_.data(), node);
    const std::uint64_t* const holders = bits(datum);
    for (std::size_t w = 0; w < words_; ++w) missing_[w] &= ~holders[w];
    const std::int32_t first = owner(datum);
    relay_.assign(1, first);
    list_missing(first, static_cast<std::int32_t>(nodes_));
    list_missing(0, first);
}

/// Those that are marked, from a node on and before another.
void Directory::list_missing(std::int32_t from, std::int32_t before) {
    const auto first_word = static_cast<std::size_t>(from) / 64;
    for (std::size_t w = first_word; 64 * w < static_cast<std::size_t>(before); ++w) {
        std::uint64_t left = missing_[w];
        if (w == first_word) left &= ~std::uint64_t{0} << static_cast<unsigned>(from % 64);
        for (; left != 0; left &= left - 1) {
            const auto node = static_cast<std::int32_t>(64 * w) + std::countr_zero(left);
            if (node >= before) return;
            relay_.push_back(node);
        }
    }
}

/// Binomial: place p hands on to p + 2ᵏ for each 2ᵏ below its lowest bit, the largest part of the tree first.
void Directory::list_children(std::size_t place, std::size_t count) {
    children_.clear();
    const std::size_t lowest = place == 0 ? std::bit_ceil(count) : place & (~place + 1);
    for (std::size_t step = lowest / 2; step > 0; step /= 2)
        if (place + step < count) children_.push_back(relay_[place + step]);
}

}  // namespace tesela
