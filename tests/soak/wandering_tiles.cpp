#include "soak/wandering_tiles.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"

#include <numeric>
#include <vector>

namespace tesela::bench {
namespace {

constexpr Index tile_order = 8;

KernelResult count_up(const NoArguments&, TileSpan<double> tile) noexcept {
    for (Index j = 0; j < tile.cols(); ++j)
        for (Index i = 0; i < tile.rows(); ++i) tile(i, j) += 1;
    return {};
}
const auto count_up_kernel = make_kernel<count_up>("count_up");

KernelResult add_elements(const NoArguments&, TileSpan<const double> from, TileSpan<double> to) noexcept {
    for (Index j = 0; j < to.cols(); ++j)
        for (Index i = 0; i < to.rows(); ++i) to(i, j) += from(i, j);
    return {};
}
const auto add_elements_kernel = make_kernel<add_elements>("add_tile");

std::vector<std::int32_t> all_nodes(Index nodes) {
    std::vector<std::int32_t> owners(static_cast<std::size_t>(nodes));
    std::iota(owners.begin(), owners.end(), 0);
    return owners;
}

/// Tile (i, j) on node j.
Distribution column_per_node(Index rows, Index nodes) {
    std::vector<std::int32_t> owners;
    for (Index i = 0; i < rows; ++i)
        for (const std::int32_t node : all_nodes(nodes)) owners.push_back(node);
    return {{rows, nodes}, nodes, owners};
}

}  // namespace

Distribution one_tile_per_node(Index nodes) { return {{nodes, 1}, nodes, all_nodes(nodes)}; }

Task add_tile(const TileOf<double>& from, const TileOf<double>& to) {
    return Task(add_elements_kernel, read(from), read_write(to));
}

WanderingTiles::WanderingTiles(Engine& engine)
    : stream_(engine, {.name = "messages"}),
      nodes_(engine.node_count()),
      tiles_(stream_, Tiling::uniform({tile_order * tile_count, tile_order}, {tile_order, tile_order}),
             Distribution({tile_count, 1}, nodes_, std::vector<std::int32_t>(tile_count, 0)), {.name = "tiles"}),
      sums_(stream_, Tiling::uniform({tile_order * tile_count, tile_order * nodes_}, {tile_order, tile_order}),
            column_per_node(tile_count, nodes_), {.name = "sums"}) {
    fill(stream_, tiles_.view(), {});
    fill(stream_, sums_.view(), {});
    // So that all nodes send at the same time.
    for (Index tile = 0; tile < tile_count; ++tile) stream_.move(tiles_(tile, 0), NodeId{tile % nodes_});
    wait();
}

Index WanderingTiles::rounds_for(Index messages) const { return ceil_div(messages, messages_per_round); }

void WanderingTiles::run_round() {
    for (Index tile = 0; tile < tile_count; ++tile) send_on(tile);
    ++rounds_;
    messages_ += messages_per_round;
    if (rounds_ % fetched_every == 0) fetch_sum();
    if (rounds_ % waits_every == 0) wait();
}

/// Writing a tile makes copies of it out of date and moving it leaves none behind, so both below are messages.
void WanderingTiles::send_on(Index tile) {
    const TileOf<double> wanderer = tiles_(tile, 0);
    const NodeId from = wanderer.owner();
    stream_.submit(Task(count_up_kernel, read_write(wanderer)));
    stream_.move(wanderer, NodeId{(from.number() + 1) % nodes_});
    stream_.submit(add_tile(wanderer, sums_(tile, from.number())));
}

void WanderingTiles::fetch_sum() {
    const Index tile = rounds_ % tile_count;
    const Index behind = (tiles_(tile, 0).owner().number() + nodes_ - 1) % nodes_;
    fetched_.push_back(stream_.fetch(sums_(tile, behind)));
    messages_ += nodes_ - 1;
}

void WanderingTiles::wait() {
    for (const auto& value : fetched_) value->wait();
    fetched_.clear();
    require_done(stream_.wait());
}

Index WanderingTiles::wrong_values() {
    const auto rounds = static_cast<double>(rounds_);
    const std::vector<double> counts = gather(stream_, tiles_.view());
    const std::vector<double> parts = gather(stream_, sums_.view());
    wait();
    Index wrong = 0;
    for (std::size_t at = 0; at < counts.size(); ++at) {
        double sum = 0;
        for (std::size_t node = 0; node < static_cast<std::size_t>(nodes_); ++node)
            sum += parts[at + node * counts.size()];
        wrong += counts[at] == rounds && sum == rounds * (rounds + 1) / 2 ? 0 : 1;
    }
    return wrong;
}

}  // namespace tesela::bench
