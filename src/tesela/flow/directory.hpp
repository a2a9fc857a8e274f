#pragma once

#include "tesela/base/index.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tesela {

/// Who holds which version of some data (tiles and tokens), while a stream is walked in order: one rule, from which
/// every engine takes its messages. The owner holds the value; a node that reads it is sent a copy once and keeps it
/// until the datum is written, moved or retired; what is written elsewhere goes back to the owner.
///
/// What follows from a step is told to the caller's `effects`, in this order:
///   send(datum, from, to)  `from` sends the value to the nodes `to`, to one after the other
///   take(datum, node)      a node that is not the owner holds the value from here on
///   drop(datum, node)      a node holds it no longer, when what was said before has ended
class Directory {
public:
    explicit Directory(Index nodes);

    /// Whether a datum has a value before any task writes it: memory of the caller has one.
    enum class Value : std::uint8_t { none, given };
    void add(std::int32_t owner, Value value);

    [[nodiscard]] Index nodes() const { return nodes_; }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] std::int32_t owner(std::size_t datum) const { return entries_[datum].owner; }
    /// Counts writes and moves of values; 0 before the first.
    [[nodiscard]] std::uint32_t version(std::size_t datum) const { return entries_[datum].version; }
    [[nodiscard]] bool holds(std::size_t datum, std::int32_t node) const {
        return (bits(datum)[node / 64] >> static_cast<unsigned>(node % 64) & 1U) != 0;
    }

    /// A node reads the datum.
    template <class Effects>
    void read(std::size_t datum, std::int32_t node, Effects&& effects) {
        if (holds(datum, node)) return;
        set(datum, node);
        effects.send(datum, owner(datum), std::span<const std::int32_t>{&node, 1});
        effects.take(datum, node);
    }

    /// A node has written the datum.
    template <class Effects>
    void written(std::size_t datum, std::int32_t node, Effects&& effects) {
        Entry& entry = entries_[datum];
        if (node != entry.owner && !holds(datum, node)) effects.take(datum, node);
        drop_others(datum, node, effects);
        ++entry.version;
        entry.valued = 1;
        set(datum, node);
        if (node != entry.owner) effects.send(datum, node, std::span<const std::int32_t>{&entry.owner, 1});
    }

    /// Its owner has written the datum, or a part of it.
    template <class Effects>
    void written(std::size_t datum, Effects&& effects) {
        written(datum, owner(datum), effects);
    }

    /// Another node owns the datum from here on, with its value if there is one.
    template <class Effects>
    void move(std::size_t datum, std::int32_t to, Effects&& effects) {
        Entry& entry = entries_[datum];
        const std::int32_t from = entry.owner;
        if (from == to) return;
        if (entry.valued != 0 && !holds(datum, to)) effects.send(datum, from, std::span<const std::int32_t>{&to, 1});
        drop_others(datum, to, effects);
        entry.owner = to;
        clear(datum, from);
        set(datum, to);
        effects.drop(datum, from);
        if (entry.valued != 0) ++entry.version;
    }

    /// Copies are not needed any more.
    template <class Effects>
    void retire(std::size_t datum, Effects&& effects) {
        drop_others(datum, entries_[datum].owner, effects);
    }

    /// The value is not needed any more, by anyone: it does not travel when the datum moves before it is written again.
    template <class Effects>
    void discard(std::size_t datum, Effects&& effects) {
        retire(datum, effects);
        entries_[datum].valued = 0;
    }

    /// Some nodes are going to read the datum: it is handed on along a binomial tree, so that one to many takes as long
    /// as log₂ of them. `readers` may repeat and may hold it already.
    template <class Effects>
    void share(std::size_t datum, std::span<const std::int32_t> readers, Effects&& effects) {
        list_missing(datum, readers);
        const std::size_t count = relay_.size();
        for (std::size_t place = 0; place < count; ++place) {
            list_children(place, count);
            if (!children_.empty()) effects.send(datum, relay_[place], std::span<const std::int32_t>{children_});
        }
        for (std::size_t place = 1; place < count; ++place) {
            set(datum, relay_[place]);
            effects.take(datum, relay_[place]);
        }
    }

    /// All nodes read the datum once, in `run`: those that did not hold it do so only for that time.
    template <class Effects, class Run>
    void visit(std::size_t datum, Effects&& effects, Run&& run) {
        list_missing(datum, everyone());
        const std::vector<std::int32_t> visited(relay_.begin() + 1, relay_.end());
        share(datum, visited, effects);
        run();
        for (const std::int32_t node : visited) {
            clear(datum, node);
            effects.drop(datum, node);
        }
    }

private:
    struct Entry {
        std::int32_t owner = 0;
        std::uint32_t version : 31 = 0;
        std::uint32_t valued : 1 = 0;  // whether there is a value that anyone needs
        std::uint64_t holders = 0;     // of up to 64 nodes
    };

    [[nodiscard]] const std::uint64_t* bits(std::size_t datum) const {
        return words_ == 1 ? &entries_[datum].holders : &more_[datum * words_];
    }
    [[nodiscard]] std::uint64_t* bits(std::size_t datum) {
        return words_ == 1 ? &entries_[datum].holders : &more_[datum * words_];
    }
    static void mark(std::uint64_t* words, std::int32_t node) {
        words[node / 64] |= std::uint64_t{1} << static_cast<unsigned>(node % 64);
    }
    void set(std::size_t datum, std::int32_t node) { mark(bits(datum), node); }
    void clear(std::size_t datum, std::int32_t node) {
        bits(datum)[node / 64] &= ~(std::uint64_t{1} << static_cast<unsigned>(node % 64));
    }
    /// All but the owner and one node stop holding it.
    template <class Effects>
    void drop_others(std::size_t datum, std::int32_t keep, Effects& effects) {
        const std::int32_t owner = entries_[datum].owner;
        std::uint64_t* const words = bits(datum);
        for (std::size_t w = 0; w < words_; ++w)
            for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
                const auto node = static_cast<std::int32_t>(64 * w) + std::countr_zero(left);
                if (node == keep || node == owner) continue;
                clear(datum, node);
                effects.drop(datum, node);
            }
    }
    [[nodiscard]] std::vector<std::int32_t> everyone() const;
    void list_missing(std::size_t datum, std::span<const std::int32_t> readers);
    void list_missing(std::int32_t from, std::int32_t before);
    void list_children(std::size_t place, std::size_t count);

    Index nodes_;
    std::size_t words_;
    std::vector<Entry> entries_;
    std::vector<std::uint64_t> more_;  // holders where there are more than 64 nodes
    // Of the tree that is being made: who is to get it, bit by bit, the nodes by their place in it, the children of
    // one.
    std::vector<std::uint64_t> missing_;
    std::vector<std::int32_t> relay_;
    std::vector<std::int32_t> children_;
};

}  // namespace tesela
