#pragma once

#include "tesela/base/large_array.hpp"
#include "tesela/flow/recording.hpp"

#include <cstdint>
#include <vector>

namespace tesela::sim {

inline constexpr std::uint32_t no_copy = 0xffffffffU;

/// The value of a datum on one node: its owner's, or a copy that was received.
struct Copy {
    std::int32_t datum = 0;
    std::int32_t node = 0;
    double bytes = 0;
    std::uint32_t on_node = 0;   ///< its number among the copies of its node
    std::uint32_t users = 0;     ///< tasks and messages to come that use it
    bool dropped = false;        ///< no longer wanted once its users have ended
    bool allocated = false;      ///< takes room in main memory
    bool locked = false;         ///< a commuting access is under way
    std::uint32_t valid = 0;     ///< memories of the node that hold the value, bit by bit
    std::uint32_t resident = 0;  ///< GPUs that have room for it
    std::uint32_t fetching = 0;  ///< memories that it is on its way to
    std::uint32_t writes = 0;    ///< how often it was written: what was on its way before is out of date
    std::uint32_t waiter = 0;    ///< the first that waits for it in some memory (Memories), from 1; 0 for none
};

/// What the nodes hold of each datum at a point of the stream: the values that the directory says they have.
class Copies {
public:
    explicit Copies(std::int32_t nodes)
        : directory_(nodes),
          nodes_(static_cast<std::size_t>(nodes)),
          of_node_(nodes_) {}

    /// Takes in the data that were attached since.
    void know(const Recording& recording, const std::vector<std::int32_t>& owners, const std::vector<double>& bytes);

    [[nodiscard]] Directory& directory() { return directory_; }
    [[nodiscard]] const Directory& directory() const { return directory_; }
    [[nodiscard]] std::int32_t owner(std::int32_t datum) const {
        return directory_.owner(static_cast<std::size_t>(datum));
    }
    /// The copy of a datum on a node, or no_copy.
    [[nodiscard]] std::uint32_t find(std::int32_t datum, std::int32_t node) const { return held_[slot(datum, node)]; }
    [[nodiscard]] std::uint32_t add(std::int32_t datum, std::int32_t node);
    /// Whether this is asked of a datum for the first time.
    [[nodiscard]] bool is_new(std::int32_t datum);
    /// Room for what a message brings, for who uses it and no longer.
    [[nodiscard]] std::uint32_t add_buffer(std::int32_t datum, std::int32_t node, double bytes);
    /// The node does not hold the datum any more; the copy itself goes when its users have ended.
    void drop(std::int32_t datum, std::int32_t node);

    /// The copy that has a number on a node (Copy::on_node).
    [[nodiscard]] std::uint32_t of_node(std::int32_t node, std::uint32_t on_node) const {
        return of_node_[static_cast<std::size_t>(node)][on_node];
    }
    [[nodiscard]] Copy& operator[](std::uint32_t copy) { return copies_[copy]; }
    [[nodiscard]] std::size_t slot(std::int32_t datum, std::int32_t node) const {
        return static_cast<std::size_t>(datum) * nodes_ + static_cast<std::size_t>(node);
    }
    [[nodiscard]] std::size_t slots() const { return held_.size(); }
    /// Copies that were dropped without a user left, since the last call.
    [[nodiscard]] std::vector<std::uint32_t> take_unused();
    /// No copy has more bytes.
    [[nodiscard]] double most_bytes() const { return most_bytes_; }

private:
    std::uint32_t append(const Copy& copy);

    Directory directory_;
    std::size_t nodes_;
    std::vector<double> bytes_;
    std::vector<bool> is_known_;
    LargeArray<std::uint32_t> held_;
    LargeArray<Copy> copies_;
    std::vector<std::vector<std::uint32_t>> of_node_;
    double most_bytes_ = 0;
    std::vector<std::uint32_t> unused_;
};

}  // namespace tesela::sim
