#include "tesela/distribution/overlay.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/redistribution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace tesela::overlay_test {
namespace {

using Part = Part;

Index tile_of(const std::vector<Index>& cuts, Index position) {
    Index tile = 0;
    while (cuts[static_cast<std::size_t>(tile) + 1] <= position) ++tile;
    return tile;
}

/// Tile of an element and its place in there.
std::pair<TileIndex, ElementIndex> locate(const Tiling& tiling, ElementIndex at) {
    const TileIndex tile{tile_of(tiling.row_cuts(), at.i), tile_of(tiling.col_cuts(), at.j)};
    return {tile, {at.i - tiling.row_begin(tile.i), at.j - tiling.col_begin(tile.j)}};
}

OverlayProblem any_problem() {
    OverlayProblem p;
    const auto number = [](Index low, Index high) { return *rc::gen::inRange(low, high); };
    p.size = {number(0, 40), number(0, 40)};
    p.from_offset = {number(0, 10), number(0, 10)};
    p.to_offset = {number(0, 10), number(0, 10)};
    p.part = *rc::gen::element(Part::all, Part::lower, Part::upper);
    p.diagonal = p.part == Part::all ? 0 : number(-8, 8);
    p.orientation = *rc::gen::element(Orientation::same, Orientation::transposed);
    const ElementIndex target = p.orientation == Orientation::same ? p.size : ElementIndex{p.size.j, p.size.i};
    p.from = Tiling::uniform({p.from_offset.i + p.size.i + number(1, 5), p.from_offset.j + p.size.j + number(1, 5)},
                             {number(1, 15), number(1, 15)});
    p.to = Tiling::uniform({p.to_offset.i + target.i + number(1, 5), p.to_offset.j + target.j + number(1, 5)},
                           {number(1, 15), number(1, 15)});
    return p;
}

using Place = std::tuple<TileIndex, ElementIndex>;

/// Where each element of the target comes from, by the definition.
std::map<Place, Place> moves_by_definition(const OverlayProblem& p) {
    std::map<Place, Place> moves;
    for (Index i = 0; i < p.size.i; ++i)
        for (Index j = 0; j < p.size.j; ++j) {
            if (p.part == Part::lower && i - j < p.diagonal) continue;
            if (p.part == Part::upper && i - j > p.diagonal) continue;
            const bool same = p.orientation == Orientation::same;
            const auto [to, to_at] = locate(p.to, {p.to_offset.i + (same ? i : j), p.to_offset.j + (same ? j : i)});
            const auto [from, from_at] = locate(p.from, {p.from_offset.i + i, p.from_offset.j + j});
            moves[{to, to_at}] = {from, from_at};
        }
    return moves;
}

/// Adds the moves of a segment; false if an element of the target is written twice.
bool add_moves(const OverlayProblem& p, const Segment& s, std::map<Place, Place>& moves) {
    bool once = true;
    const bool same = p.orientation == Orientation::same;
    for (Index j = 0; j < s.shape.cols; ++j)
        for (Index i = s.shape.begin(j); i < s.shape.end(j); ++i)
            once = moves
                       .emplace(Place{s.to, {s.to_at.i + i, s.to_at.j + j}},
                                Place{s.from, {s.from_at.i + (same ? i : j), s.from_at.j + (same ? j : i)}})
                       .second &&
                   once;
    return once;
}

RC_GTEST_PROP(Overlay, SegmentsAreTheMovesOfTheDefinitionEachOnce, ()) {
    const OverlayProblem p = any_problem();
    const Overlay overlay(p);
    std::map<Place, Place> moves;
    overlay.for_each([&](const Segment& s) {
        RC_ASSERT(add_moves(p, s, moves));
        RC_ASSERT(!s.shape.empty());
        RC_ASSERT(overlay.touches(s.to));
    });
    RC_ASSERT(moves == moves_by_definition(p));
}

RC_GTEST_PROP(Overlay, KnowsWhichTargetTilesAreFilled, ()) {
    const OverlayProblem p = any_problem();
    const Overlay overlay(p);
    std::map<TileIndex, Index> elements;
    for (const auto& [to, from] : moves_by_definition(p)) ++elements[std::get<0>(to)];
    const Overlay::TileRange tiles = overlay.target_tiles();
    for (Index i = tiles.first.i; i < tiles.last.i; ++i)
        for (Index j = tiles.first.j; j < tiles.last.j; ++j) {
            RC_ASSERT(overlay.touches({i, j}) == (elements[{i, j}] > 0));
            RC_ASSERT(overlay.covers({i, j}) == (elements[{i, j}] == p.to.rows(i) * p.to.cols(j)));
        }
}

TEST(Overlay, HasTheNineCategoriesOfFigure3) {
    // 002 §8.3: MB_t = MB_s (cid/3 + 1), NB_t = NB_s (cid%3 + 1).
    for (int category = 0; category < 9; ++category) {
        const ElementIndex target{10 * (category / 3 + 1), 10 * (category % 3 + 1)};
        const Overlay overlay({.from = Tiling::uniform({120, 120}, {10, 10}),
                               .to = Tiling::uniform({120, 120}, target),
                               .size = {120, 120}});
        const auto counts = overlay.count_categories();
        for (int c = 0; c < 9; ++c)
            EXPECT_EQ(counts[static_cast<std::size_t>(c)], c == category ? 120 / target.i * (120 / target.j) : 0);
    }
}

TEST(Overlay, NamesSegmentsByTheirPlaceInTheTargetTile) {
    // Figure 2: a target tile over 4 x 4 source tiles.
    const Overlay overlay({.from = Tiling::square(40, 10), .to = Tiling::square(40, 40), .size = {40, 40}});
    std::string names;
    overlay.for_each([&](const Segment& s) { names += std::string(segment_kind_name(overlay.kind(s))) + " "; });
    EXPECT_EQ(names, "NW W W SW N I I S N I I S NE E E SE ");
}

TEST(Overlay, RefusesWhatIsNotInside) {
    const Tiling square = Tiling::square(10, 3);
    EXPECT_THROW(Overlay({.from = square, .to = square, .from_offset = {1, 0}, .size = {10, 10}}), Error);
    EXPECT_THROW(Overlay({.from = square, .to = square, .to_offset = {0, 1}, .size = {10, 10}}), Error);
    EXPECT_THROW(Overlay({.from = square, .to = square, .from_offset = {-1, 0}, .size = {5, 5}}), Error);
    EXPECT_THROW(Overlay({.from = square, .to = square, .size = {-1, 5}}), Error);
    EXPECT_THROW(Overlay({.from = Tiling::uniform({10, 4}, {3, 3}),
                          .to = square,
                          .to_offset = {7, 0},
                          .size = {10, 4},
                          .orientation = Orientation::transposed}),
                 Error);
    EXPECT_TRUE(Overlay({.from = square, .to = square, .from_offset = {10, 10}, .size = {0, 0}}).empty());
}

TEST(Overlay, OfAMillionRowsIsExact) {
    const Index n = 1'000'000;
    const Tiling from = Tiling::square(n, 10'000);
    const Tiling to = Tiling::square(n, 7'001);
    const Overlay overlay({.from = from, .to = to, .size = {n, n}, .part = Part::lower});
    const Distribution a = block_cyclic(from.grid(), {4, 5});
    const Distribution b = random_distribution(to.grid(), 20, 1);
    const RedistributionVolume volume = redistribution_volume(overlay, {a, b}, dense_bytes(8));
    EXPECT_EQ(volume.local.bytes + volume.remote.bytes, n * (n + 1) / 2 * 8);  // 4·10^12 bytes
    const Overlay same({.from = from, .to = from, .size = {n, n}});
    const RedistributionVolume whole = redistribution_volume(same, {a, a}, dense_bytes(8));
    EXPECT_EQ(whole.remote.bytes, 0);
    EXPECT_EQ(whole.local.segments, 10'000);
    EXPECT_EQ(whole.local.bytes, n * n * 8);
    EXPECT_TRUE(same.whole_tiles());
    EXPECT_FALSE(overlay.whole_tiles());
}

struct Owned {
    OverlayProblem problem;
    Distribution from, to;
};
Owned any_owned() {
    Owned o{any_problem(), {}, {}};
    o.from = random_distribution(o.problem.from.grid(), 3, *rc::gen::inRange<std::uint64_t>(0, 100));
    o.to = random_distribution(o.problem.to.grid(), 4, *rc::gen::inRange<std::uint64_t>(0, 100));
    return o;
}

RC_GTEST_PROP(RedistributionVolume, IsConservedOverPairsAndNodes, ()) {
    const Owned o = any_owned();
    const RedistributionVolume volume = redistribution_volume(Overlay(o.problem), {o.from, o.to}, dense_bytes(4));
    const auto elements = static_cast<Index>(moves_by_definition(o.problem).size());
    Index pairs = 0;
    Index sent = 0;
    Index received = 0;
    Index local = 0;
    for (const auto& [nodes, v] : volume.pairs) pairs += v.bytes;
    for (const NodeVolume& node : volume.nodes) {
        sent += node.sent;
        received += node.received;
        local += node.local;
    }
    RC_ASSERT(pairs == 4 * elements);
    RC_ASSERT(volume.local.bytes + volume.remote.bytes == pairs);
    RC_ASSERT(sent == volume.remote.bytes);
    RC_ASSERT(received == sent);
    RC_ASSERT(local == volume.local.bytes);
}

RC_GTEST_PROP(Parcels, CarryEverySegmentOnceWithinTheirLimits, ()) {
    const Owned o = any_owned();
    const Overlay overlay(o.problem);
    const ParcelOptions options{.bytes = *rc::gen::inRange<Index>(1, 3000)};
    const Parcels all = make_parcels(overlay, {o.from, o.to}, dense_bytes(8), options);
    RC_ASSERT(static_cast<Index>(all.parcels.size()) == all.count);
    std::map<Place, Place> moves;
    std::map<std::pair<Index, Index>, Index> sequence;
    for (std::size_t k = 0; k < all.parcels.size(); ++k) {
        const Parcel& parcel = all.parcels[k];
        RC_ASSERT(parcel.number == static_cast<Index>(k));
        RC_ASSERT((parcel.sequence == sequence[{parcel.from.number(), parcel.to.number()}]++));
        Index bytes = 0;
        RC_ASSERT(parcel.places.size() == parcel.segments.size());
        for (std::size_t p = 0; p < parcel.segments.size(); ++p) {
            const Segment& s = parcel.segments[p];
            RC_ASSERT(add_moves(o.problem, s, moves));
            RC_ASSERT(o.from.owner(s.from) == parcel.from);
            RC_ASSERT(o.to.owner(s.to) == parcel.to);
            RC_ASSERT(parcel.sources.at(static_cast<std::size_t>(parcel.places[p].source)) == s.from);
            RC_ASSERT(parcel.targets.at(static_cast<std::size_t>(parcel.places[p].target)) == s.to);
            bytes += 8 * s.shape.count();
        }
        RC_ASSERT(bytes == parcel.bytes);
        RC_ASSERT(bytes > 0);
        const bool one_column = parcel.segments.size() == 1 && parcel.segments[0].shape.cols == 1;
        // Strips have less than twice the limit on average. Their widths differ by a column, which may be twice as
        // many, and the columns of a triangle have up to twice their average.
        RC_ASSERT(one_column || bytes < 8 * options.bytes);
        RC_ASSERT(parcel.segments.size() == 1 || bytes <= options.bytes);
        for (const auto* tiles : {&parcel.sources, &parcel.targets})  // each tile once, and none without a segment
            RC_ASSERT(std::set<TileIndex>(tiles->begin(), tiles->end()).size() == tiles->size());
        RC_ASSERT(std::max(parcel.sources.size(), parcel.targets.size()) <= parcel.segments.size());
    }
    RC_ASSERT(moves == moves_by_definition(o.problem));

    // What one node is told is part of what all are told.
    const NodeId me{*rc::gen::inRange<Index>(0, 4)};
    const Parcels mine = make_parcels(overlay, {o.from, o.to}, dense_bytes(8), options, me);
    RC_ASSERT(mine.count == all.count);
    std::size_t concerning = 0;
    for (const Parcel& parcel : all.parcels) concerning += parcel.from == me || parcel.to == me ? 1U : 0U;
    RC_ASSERT(mine.parcels.size() == concerning);
    for (const Parcel& parcel : mine.parcels) {
        const Parcel& same = all.parcels[static_cast<std::size_t>(parcel.number)];
        RC_ASSERT(parcel.number == same.number);
        RC_ASSERT(parcel.sequence == same.sequence);
        RC_ASSERT(parcel.from == same.from);
        RC_ASSERT(parcel.to == same.to);
        RC_ASSERT(parcel.bytes == same.bytes);
        RC_ASSERT(parcel.segments == same.segments);
        RC_ASSERT(parcel.sources == same.sources);
        RC_ASSERT(parcel.targets == same.targets);
    }
}

TEST(Parcels, WholeTilesTravelAloneAndTheRestTogether) {
    const Tiling tiling = Tiling::square(64, 8);  // 512 bytes a tile
    const Distribution a = block_cyclic(tiling.grid(), {1, 2});
    const Distribution b = block_cyclic(tiling.grid(), {2, 1});
    // Segments of a message, and of a copy on one node.
    const auto segments = [&](const OverlayProblem& problem, Index whole_tile_bytes) {
        // A transposed 1 x 2 grid is the 2 x 1 grid, and nothing would travel.
        const Distribution& to = problem.orientation == Orientation::same ? b : a;
        std::map<bool, std::set<std::size_t>> counts;
        const ParcelOptions options{.bytes = 4096, .whole_tile_bytes = whole_tile_bytes};
        for (const Parcel& parcel : make_parcels(Overlay(problem), {a, to}, dense_bytes(8), options).parcels)
            counts[parcel.from != parcel.to].insert(parcel.segments.size());
        return counts;
    };
    using Counts = std::map<bool, std::set<std::size_t>>;
    const OverlayProblem whole{.from = tiling, .to = tiling, .size = {64, 64}};
    EXPECT_EQ(segments(whole, 512), (Counts{{false, {8}}, {true, {1}}}));
    EXPECT_EQ(segments(whole, 513), (Counts{{false, {8}}, {true, {8}}}));
    OverlayProblem transposed = whole;
    transposed.orientation = Orientation::transposed;  // its elements do not stand as they come
    EXPECT_EQ(segments(transposed, 1), (Counts{{false, {8}}, {true, {8}}}));
    OverlayProblem shifted = whole;
    shifted.size = {60, 60};
    shifted.to_offset = {4, 4};
    for (const auto& [travels, counts] : segments(shifted, 1)) EXPECT_FALSE(counts.contains(1));
}

TEST(Parcels, OfManySmallTilesAreFull) {
    const Index n = 1024;
    const Tiling from = Tiling::square(n, 16);
    const Tiling to = Tiling::square(n, 8);
    const Overlay overlay({.from = from, .to = to, .size = {n, n}});
    const Distribution a = block_cyclic(from.grid(), {1, 4});
    const Distribution b = block_cyclic(to.grid(), {2, 2});
    const ParcelOptions options{.bytes = 1 << 16};
    const Parcels parcels = make_parcels(overlay, {a, b}, dense_bytes(8), options);
    // n²·8 bytes between 16 pairs of nodes alike.
    EXPECT_EQ(parcels.count, n * n * 8 / options.bytes);
    for (const Parcel& parcel : parcels.parcels) EXPECT_EQ(parcel.bytes, options.bytes);
}

TEST(RedistributionBound, IsEquations4And5) {
    // Two nodes swap 100 bytes and keep 50 each.
    RedistributionVolume volume;
    volume.nodes = {{.sent = 100, .received = 80, .local = 50}, {.sent = 80, .received = 100, .local = 40}};
    const RedistributionBound bound = redistribution_bound(volume, {.network = 10, .memory = 40});
    EXPECT_EQ(bound.largest, 100);
    EXPECT_DOUBLE_EQ(bound.seconds, 100.0 / 10 + 2 * 100.0 / 40 + 50.0 / 40);
    EXPECT_DOUBLE_EQ(bound.bandwidth, 10.0 * 40 / ((2 + 0.5) * 10 + 40));
    // Equation (3) at the time of equation (4) is equation (5).
    EXPECT_NEAR(static_cast<double>(bound.largest) / bound.seconds, bound.bandwidth, 1e-12);
    EXPECT_EQ(redistribution_bound({}, {.network = 1, .memory = 1}).bandwidth, 0);
    EXPECT_THROW((void)redistribution_bound(volume, {.network = 0, .memory = 1}), Error);
}

}  // namespace
}  // namespace tesela::overlay_test
