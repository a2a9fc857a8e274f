#pragma once

#include "tesela/flow/matrix.hpp"

#include <deque>
#include <memory>

namespace tesela::bench {

/// A column of tiles, one on each node.
[[nodiscard]] Distribution one_tile_per_node(Index nodes);

/// to := to + from, element by element, where `to` lives.
[[nodiscard]] Task add_tile(const TileOf<double>& from, const TileOf<double>& to);

/// Small tiles that go from node to node for as long as one likes, with values that can be checked: each is counted
/// up, moved to the next node, and read by a task on the node that it comes from. Every move and every such task is a
/// message. Now and then a sum is fetched, which is one to each other node. Every node does the same.
class WanderingTiles {
public:
    /// After so many rounds about as much has been pending at a time as ever will be: how far one node runs ahead of
    /// another differs from wait to wait, and the allocator keeps what the widest gap took.
    static constexpr Index rounds_to_settle = 320;

    explicit WanderingTiles(Engine& engine);

    /// How many rounds send at least so many messages.
    [[nodiscard]] Index rounds_for(Index messages) const;
    void run_round();
    /// Messages of all nodes so far.
    [[nodiscard]] Index messages() const { return messages_; }
    void wait();
    /// How many elements are not what they must be after these rounds; waits.
    [[nodiscard]] Index wrong_values();

private:
    static constexpr Index tile_count = 64;
    static constexpr Index messages_per_round = 2 * tile_count;
    static constexpr Index fetched_every = 8;  // rounds
    static constexpr Index waits_every = 8;

    void send_on(Index tile);
    void fetch_sum();

    Stream stream_;
    Index nodes_;
    Matrix<double> tiles_;
    Matrix<double> sums_;  ///< a row of tiles for each that wanders: what each node has read of it
    std::deque<std::shared_ptr<Fetched>> fetched_;
    Index rounds_ = 0;
    Index messages_ = 0;
};

}  // namespace tesela::bench
