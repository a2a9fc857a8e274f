#include "shared/contest.hpp"

#include "harness/timing.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tesela::bench {
namespace {

/// Closed form, different for every element of a matrix that fits into memory.
double contest_element(const void*, ElementIndex at) {
    return static_cast<double>(at.i) + static_cast<double>(at.j) / 1048576.0;
}

constexpr double untouched = -1;
double untouched_element(const void*, ElementIndex) { return untouched; }

ContestOptions with_families(ContestOptions options, Index nodes) {
    if (options.from.empty()) options.from = flat_grid(nodes);
    if (options.to.empty()) options.to = square_grid(nodes);
    return options;
}

/// The grid of "block_cyclic:PxQ"; nothing for other families.
std::optional<GridSize> block_cyclic_grid(const std::string& family) {
    long long rows = 0;
    long long cols = 0;
    int end = 0;
    if (std::sscanf(family.c_str(), "block_cyclic:%lldx%lld%n", &rows, &cols, &end) != 2) return {};
    if (static_cast<std::size_t>(end) != family.size()) return {};
    return GridSize{rows, cols};
}

}  // namespace

std::string flat_grid(Index nodes) { return fmt::format("block_cyclic:1x{}", nodes); }

std::string square_grid(Index nodes) {
    const GridSize grid = squarest_grid(nodes);
    return fmt::format("block_cyclic:{}x{}", grid.cols, grid.rows);
}

Contest::Contest(StarpuEngine& engine, ContestOptions options)
    : engine_(engine),
      options_(with_families(std::move(options), engine.node_count())),
      stream_(engine, {.name = "redistribute"}),
      from_(stream_, Tiling::uniform(or_n(options_.from_size), options_.tile_from),
            owners(options_.from, options_.tile_from, or_n(options_.from_size)), {.name = "A"}),
      to_(stream_, Tiling::uniform(or_n(options_.to_size), options_.tile_to),
          owners(options_.to, options_.tile_to, or_n(options_.to_size)), {.name = "B"}) {
    (void)overlay();
    generate<double>(stream_, from_, {contest_element});
    generate<double>(stream_, to_, {untouched_element});
    require_done(stream_.wait());
    prepare_scalapack();
}

MatrixView<double> Contest::source() const {
    const MatrixView<double> view = from_.view().as(options_.part);
    return options_.op == Op::none ? view : view.transposed();
}

Overlay Contest::overlay() const { return redistribution_overlay(source(), to_.view(), options_.redistribute); }

RedistributionVolume Contest::volume() const {
    // Tiles that were given away are not where they began.
    const Distribution from = owners(options_.from, options_.tile_from, from_.tiling().size());
    return redistribution_volume(overlay(), {from, to_.distribution()}, dense_bytes(sizeof(double)));
}

ElementIndex Contest::or_n(ElementIndex size) const {
    return {size.i < 0 ? options_.n : size.i, size.j < 0 ? options_.n : size.j};
}

Distribution Contest::owners(const std::string& family, ElementIndex tile, ElementIndex size) const {
    return make_distribution(family, Tiling::uniform(size, tile).grid(), engine_.node_count());
}

double Contest::tesela_seconds() {
    if (options_.in_place) give(owners(options_.from, options_.tile_from, from_.tiling().size()));
    engine_.barrier();
    return engine_.max(seconds_of([&] {
        if (options_.in_place) return give(to_.distribution());
        if (options_.by)
            options_.by(stream_, source(), to_.view());
        else
            redistribute(stream_, source(), to_.view(), options_.redistribute);
        require_done(stream_.wait());
    }));
}

void Contest::give(const Distribution& to) {
    redistribute(stream_, from_.view(), to);
    require_done(stream_.wait());
}

void Contest::prepare_scalapack() {
    const auto from = block_cyclic_grid(options_.from);
    const auto to = block_cyclic_grid(options_.to);
    const bool square = options_.part == Part::all && options_.op == Op::none;
    if (!options_.compare || !has_scalapack() || !from || !to || !square || engine_.node_count() == 1) return;
    all_ = std::make_unique<BlacsGrid>(GridSize{1, engine_.node_count()});
    from_grid_ = std::make_unique<BlacsGrid>(*from);
    to_grid_ = std::make_unique<BlacsGrid>(*to);
    const NodeId me = engine_.this_node();
    scalapack_from_ = std::make_unique<ScalapackMatrix>(*from_grid_, me, from_.tiling().size(), options_.tile_from);
    scalapack_to_ = std::make_unique<ScalapackMatrix>(*to_grid_, me, to_.tiling().size(), options_.tile_to);
    scalapack_from_->generate(me, [](ElementIndex at) { return contest_element(nullptr, at); });
    const Overlay laid = overlay();
    move_ = {laid.problem().size, laid.problem().from_offset, laid.problem().to_offset};
}

double Contest::scalapack_seconds() {
    engine_.pause();
    engine_.barrier();
    const double seconds = engine_.max(seconds_of([&] { pdgemr2d(*scalapack_from_, *scalapack_to_, move_, *all_); }));
    engine_.resume();
    return seconds;
}

RedistributionDefinition Contest::definition() const {
    ElementIndex viewed = from_.tiling().size();
    if (options_.op != Op::none) std::swap(viewed.i, viewed.j);
    const RedistributeOptions& what = options_.redistribute;
    return {.size = {what.size.i < 0 ? viewed.i - what.from_offset.i : what.size.i,
                     what.size.j < 0 ? viewed.j - what.from_offset.j : what.size.j},
            .from_offset = what.from_offset,
            .to_offset = what.to_offset,
            .part = options_.part,
            .op = options_.op};
}

Index Contest::wrong() {
    const RedistributionDefinition defined = definition();
    const Matrix<double>& target = options_.in_place ? from_ : to_;
    const Distribution owner = owners(options_.to, options_.tile_to, to_.tiling().size());
    std::vector<Index> bad(static_cast<std::size_t>(engine_.node_count()));
    const auto me = static_cast<std::size_t>(engine_.this_node().number());
    const GridSize tiles = owner.grid();
    for (Index i = 0; i < tiles.rows; ++i)
        for (Index j = 0; j < tiles.cols; ++j) {
            if (target(i, j).owner() != owner.owner({i, j})) throw Error("tile ({}, {}) has another owner", i, j);
            const auto fetched = stream_.fetch(target(i, j));
            fetched->wait();
            if (owner.owner({i, j}) == engine_.this_node()) bad[me] += wrong_in(defined, {i, j}, fetched->bytes());
        }
    require_done(stream_.wait());
    Index all = 0;
    for (const Index on_node : bad) all += static_cast<Index>(engine_.max(static_cast<double>(on_node)));
    return all;
}

Index Contest::wrong_in(const RedistributionDefinition& defined, TileIndex tile,
                        const std::vector<std::byte>& bytes) const {
    const auto* values = reinterpret_cast<const double*>(bytes.data());
    const ElementIndex first{tile.i * options_.tile_to.i, tile.j * options_.tile_to.j};
    const ElementIndex size = to_.tiling().size();
    const ElementIndex last{std::min(first.i + options_.tile_to.i, size.i),
                            std::min(first.j + options_.tile_to.j, size.j)};
    Index bad = 0;
    for (Index j = first.j; j < last.j; ++j)
        for (Index i = first.i; i < last.i; ++i) {
            const auto source = defined.source_of({i, j});
            bad += *values++ != (source ? contest_element(nullptr, *source) : untouched) ? 1 : 0;
        }
    return bad;
}

std::vector<ContestTimes> race(const std::vector<std::unique_ptr<Contest>>& contests, int repetitions) {
    std::vector<Best> tesela(contests.size()), scalapack(contests.size());
    for (int round = 0; round <= repetitions; ++round)
        for (std::size_t c = 0; c < contests.size(); ++c) {
            const double ours = contests[c]->tesela_seconds();
            if (round > 0) tesela[c].add(ours);
            if (!contests[c]->has_rival()) continue;
            const double theirs = contests[c]->scalapack_seconds();
            if (round > 0) scalapack[c].add(theirs);
        }
    std::vector<ContestTimes> times;
    for (std::size_t c = 0; c < contests.size(); ++c) {
        times.push_back({.tesela = tesela[c].seconds()});
        if (contests[c]->has_rival()) times.back().scalapack = scalapack[c].seconds();
    }
    return times;
}

}  // namespace tesela::bench
