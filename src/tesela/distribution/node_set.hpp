#pragma once

#include "tesela/base/index.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace tesela {

/// A set of nodes as bits: unions, intersections and tests in a few words.
class NodeSet {
public:
    NodeSet() = default;
    explicit NodeSet(Index nodes) : words_(static_cast<std::size_t>(ceil_div(nodes, 64))) {}

    [[nodiscard]] bool contains(Index node) const { return (words_[word(node)] >> (node & 63) & 1) != 0; }
    void insert(Index node) { words_[word(node)] |= std::uint64_t{1} << (node & 63); }
    void erase(Index node) { words_[word(node)] &= ~(std::uint64_t{1} << (node & 63)); }

    [[nodiscard]] bool meets(const NodeSet& other) const {
        for (std::size_t w = 0; w < words_.size(); ++w)
            if ((words_[w] & other.words_[w]) != 0) return true;
        return false;
    }
    /// The only node in both sets, or -1 when there is none or more than one.
    [[nodiscard]] Index only_common(const NodeSet& other) const {
        Index found = -1;
        for (std::size_t w = 0; w < words_.size(); ++w) {
            const std::uint64_t common = words_[w] & other.words_[w];
            if (common == 0) continue;
            if (found >= 0 || (common & (common - 1)) != 0) return -1;
            found = static_cast<Index>(64 * w) + std::countr_zero(common);
        }
        return found;
    }
    template <class Visit>
    void for_each_common(const NodeSet& other, Visit visit) const {
        for (std::size_t w = 0; w < words_.size(); ++w)
            for (std::uint64_t common = words_[w] & other.words_[w]; common != 0; common &= common - 1)
                visit(static_cast<Index>(64 * w) + std::countr_zero(common));
    }
    [[nodiscard]] Index size() const {
        Index size = 0;
        for (const auto bits : words_) size += std::popcount(bits);
        return size;
    }

    NodeSet& operator|=(const NodeSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
        return *this;
    }
    friend bool operator==(const NodeSet&, const NodeSet&) = default;

private:
    static std::size_t word(Index node) { return static_cast<std::size_t>(node >> 6); }
    std::vector<std::uint64_t> words_;
};

}  // namespace tesela
