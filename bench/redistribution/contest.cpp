#include "redistribution/contest.hpp"

#include "timing.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace tesela::bench {
namespace {

/// Closed form, different for every element of a matrix that fits into memory.
double element(const void*, ElementIndex at) {
    return static_cast<double>(at.i) + static_cast<double>(at.j) / 1048576.0;
}

constexpr double untouched = -1;
double untouched_element(const void*, ElementIndex) { return untouched; }

void check_status(const Status& status) {
    if (!status.ok()) throw Error("the redistribution failed: {}", status.describe());
}

RedistributeBenchOptions with_families(RedistributeBenchOptions options, Index nodes) {
    if (options.from.empty()) options.from = flat_grid(nodes);
    if (options.to.empty()) options.to = square_grid(nodes);
    return options;
}

}  // namespace

std::optional<GridSize> block_cyclic_grid(const std::string& family) {
    long long rows = 0;
    long long cols = 0;
    int end = 0;
    if (std::sscanf(family.c_str(), "block_cyclic:%lldx%lld%n", &rows, &cols, &end) != 2) return {};
    if (static_cast<std::size_t>(end) != family.size()) return {};
    return GridSize{rows, cols};
}

std::string flat_grid(Index nodes) { return fmt::format("block_cyclic:1x{}", nodes); }

std::string square_grid(Index nodes) {
    const GridSize grid = squarest_grid(nodes);
    return fmt::format("block_cyclic:{}x{}", grid.cols, grid.rows);
}

Contest::Contest(StarpuEngine& engine, RedistributeBenchOptions options)
    : engine_(engine),
      options_(with_families(std::move(options), engine.node_count())),
      stream_(engine, {.name = "redistribute"}),
      from_(stream_, Tiling::uniform(or_n(options_.from_size), options_.tile_from),
            owners(options_.from, options_.tile_from, or_n(options_.from_size)), {.name = "A"}),
      to_(stream_, Tiling::uniform(or_n(options_.to_size), options_.tile_to),
          owners(options_.to, options_.tile_to, or_n(options_.to_size)), {.name = "B"}) {
    (void)overlay();
    generate<double>(stream_, from_, {element});
    generate<double>(stream_, to_, {untouched_element});
    check_status(stream_.wait());
    prepare_scalapack();
}

MatrixView<double> Contest::source() const {
    const MatrixView<double> view = from_.view().as(options_.part);
    return options_.op == Op::none ? view : view.transposed();
}

Overlay Contest::overlay() const { return redistribution_overlay(source(), to_.view(), options_.redistribute); }

RedistributionVolume Contest::volume() const {
    return redistribution_volume(overlay(), {from_.distribution(), to_.distribution()}, dense_bytes(sizeof(double)));
}

ElementIndex Contest::or_n(ElementIndex size) const {
    return {size.i < 0 ? options_.n : size.i, size.j < 0 ? options_.n : size.j};
}

Distribution Contest::owners(const std::string& family, ElementIndex tile, ElementIndex size) const {
    return make_distribution(family, Tiling::uniform(size, tile).grid(), engine_.node_count());
}

double Contest::tesela_seconds() {
    engine_.barrier();
    return engine_.max(seconds_of([&] {
        redistribute(stream_, source(), to_.view(), options_.redistribute);
        check_status(stream_.wait());
    }));
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
    scalapack_from_->generate(me, [](ElementIndex at) { return element(nullptr, at); });
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

Index Contest::wrong() {
    const Overlay laid = overlay();
    Index bad = 0;
    const GridSize tiles = to_.tiling().grid();
    for (Index i = 0; i < tiles.rows; ++i)
        for (Index j = 0; j < tiles.cols; ++j) {
            const auto fetched = stream_.fetch(to_(i, j));
            fetched->wait();
            if (to_(i, j).owner() == engine_.this_node()) bad += wrong_in(laid, {i, j}, fetched->bytes());
        }
    check_status(stream_.wait());
    return static_cast<Index>(engine_.max(static_cast<double>(bad)));
}

Index Contest::wrong_in(const Overlay& laid, TileIndex tile, const std::vector<std::byte>& bytes) const {
    const Index rows = to_.tiling().rows(tile.i);
    const Index cols = to_.tiling().cols(tile.j);
    std::vector<double> expected(static_cast<std::size_t>(rows * cols), untouched);
    const Overlay::TileRange touched = laid.target_tiles();
    if (tile.i >= touched.first.i && tile.i < touched.last.i && tile.j >= touched.first.j && tile.j < touched.last.j)
        laid.for_each_in(tile, [&](const Segment& s) {
            for (Index j = 0; j < s.shape.cols; ++j)
                for (Index i = s.shape.begin(j); i < s.shape.end(j); ++i) {
                    const bool same = laid.problem().orientation == Orientation::same;
                    const ElementIndex at{from_.tiling().row_begin(s.from.i) + s.from_at.i + (same ? i : j),
                                          from_.tiling().col_begin(s.from.j) + s.from_at.j + (same ? j : i)};
                    expected[static_cast<std::size_t>(s.to_at.i + i + (s.to_at.j + j) * rows)] = element(nullptr, at);
                }
        });
    const auto* values = reinterpret_cast<const double*>(bytes.data());
    Index bad = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) bad += values[k] != expected[k] ? 1 : 0;
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
