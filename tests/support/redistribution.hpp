#pragma once

// A redistribution drawn at random, run on any engine and compared element by element with its definition.

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/families.hpp"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace tesela::testing {

/// Which elements move, whether transposed, and whether the target has values already.
struct Redistribution {
    Tiling from, to;
    std::string from_family, to_family;
    ElementIndex size, from_offset, to_offset;
    Part part = Part::all;
    Op op = Op::none;
    bool target_has_values = true;
    RedistributeOptions options;

    [[nodiscard]] std::string name() const {
        return fmt::format(
            "{}x{} in {}x{} tiles {} -> {}x{} in {}x{} tiles {}, {}x{} from ({}, {}) to ({}, {}){}{}{} "
            "batch {} bytes {}",
            from.size().i, from.size().j, from.grid().rows, from.grid().cols, from_family, to.size().i, to.size().j,
            to.grid().rows, to.grid().cols, to_family, size.i, size.j, from_offset.i, from_offset.j, to_offset.i,
            to_offset.j, part == Part::lower ? " lower" : "", op == Op::transpose ? " transposed" : "",
            target_has_values ? "" : " into nothing", options.batch, options.message_bytes);
    }
};

inline double source_element(const void*, ElementIndex at) { return static_cast<double>(1 + at.i * 211 + at.j); }
inline double target_element(const void*, ElementIndex at) { return -static_cast<double>(1 + at.i * 211 + at.j); }

/// Cuts of `n` elements: equal tiles with a ragged last one, or tiles of any sizes.
inline std::vector<Index> any_cuts(Index n) {
    std::vector<Index> cuts{0};
    const Index tile = *rc::gen::inRange<Index>(1, 24);
    const bool irregular = *rc::gen::inRange(0, 4) == 0;
    while (cuts.back() < n)
        cuts.push_back(std::min(n, cuts.back() + (irregular ? *rc::gen::inRange<Index>(1, 24) : tile)));
    return cuts;
}

inline Tiling any_tiling(ElementIndex size) { return Tiling::from_cuts(any_cuts(size.i), any_cuts(size.j)); }

inline std::string any_family() {
    return *rc::gen::element<std::string>("block_cyclic", "1d", "random:3", "random:4", "1d1d", "1d1d unequal",
                                          "band:2", "band:3");
}

/// A submatrix that lies inside both matrices.
inline Redistribution any_redistribution() {
    Redistribution r;
    r.op = *rc::gen::element(Op::none, Op::none, Op::transpose);
    r.part = *rc::gen::element(Part::all, Part::all, Part::lower);
    r.size = {*rc::gen::inRange<Index>(0, 70), *rc::gen::inRange<Index>(0, 70)};
    const auto room = [] {
        return *rc::gen::weightedOneOf<Index>({{1, rc::gen::just<Index>(0)}, {1, rc::gen::inRange<Index>(0, 30)}});
    };
    r.from_offset = {room(), room()};
    r.to_offset = {room(), room()};
    const auto whole = [&](ElementIndex offset, ElementIndex size) {
        return ElementIndex{offset.i + size.i + room(), offset.j + size.j + room()};
    };
    // The source is given as it is stored; the view that is redistributed may be its transpose.
    const ElementIndex stored = whole(r.from_offset, r.size);
    r.from = any_tiling(r.op == Op::none ? stored : ElementIndex{stored.j, stored.i});
    r.to = any_tiling(whole(r.to_offset, r.size));
    // Tiles that travel as a whole would be rare otherwise.
    if (r.op == Op::none && *rc::gen::inRange(0, 4) == 0) {
        r.to = r.from;
        r.to_offset = r.from_offset;
    }
    r.from_family = any_family();
    r.to_family = any_family();
    r.target_has_values = *rc::gen::arbitrary<bool>();
    r.options = {.size = r.size,
                 .from_offset = r.from_offset,
                 .to_offset = r.to_offset,
                 .batch = *rc::gen::inRange<Index>(0, 4),
                 .message_bytes = *rc::gen::element<Index>(1, 300, 2000, 1 << 20),
                 .whole_tile_bytes = *rc::gen::element<Index>(1, 1000, 1 << 20)};
    return r;
}

/// "1d1d unequal": nodes of powers 1, 3, 5 and so on.
inline Distribution owners(const std::string& family, GridSize grid, Index nodes) {
    if (grid.count() == 0) return {grid, nodes, {}};
    if (family != "1d1d unequal") return make_distribution(family, grid, nodes);
    std::string powers = "1d1d:1";
    for (Index node = 1; node < nodes; ++node) powers += fmt::format(",{}", 2 * node + 1);
    return make_distribution(powers, grid, nodes);
}

template <class T>
MatrixView<T> source_view(const Redistribution& r, const Matrix<T>& A) {
    const MatrixView<T> view = r.op == Op::none ? A.view() : A.view().transposed();
    return view.as(r.part);
}

/// What the target must hold: element by element from the definition, with no tiles in sight. `source` and `target` are
/// elements of the matrices before, as these are stored.
template <class T, class Source, class Target>
std::vector<T> expected_target(const Redistribution& r, const Source& source, const Target& target) {
    const ElementIndex size = r.to.size();
    std::vector<T> expected(static_cast<std::size_t>(size.i * size.j));
    for (Index j = 0; j < size.j; ++j)
        for (Index i = 0; i < size.i; ++i) {
            double value = r.target_has_values ? target(ElementIndex{i, j}) : 0;
            const ElementIndex sub{i - r.to_offset.i, j - r.to_offset.j};
            const bool inside = sub.i >= 0 && sub.j >= 0 && sub.i < r.size.i && sub.j < r.size.j;
            const ElementIndex view{r.from_offset.i + sub.i, r.from_offset.j + sub.j};
            // A lower triangle is that of the view the source is given as.
            if (inside && (r.part == Part::all || view.i >= view.j))
                value = source(r.op == Op::none ? view : ElementIndex{view.j, view.i});
            expected[static_cast<std::size_t>(i + j * size.i)] = static_cast<T>(value);
        }
    return expected;
}
template <class T>
std::vector<T> expected_target(const Redistribution& r) {
    return expected_target<T>(
        r, [](ElementIndex at) { return source_element(nullptr, at); },
        [](ElementIndex at) { return target_element(nullptr, at); });
}

/// Tiles that nothing wrote are taken as zeros.
template <class T>
void zero_what_was_not_written(Stream& s, const Matrix<T>& B) {
    for (Index i = 0; i < B.tiling().grid().rows; ++i)
        for (Index j = 0; j < B.tiling().grid().cols; ++j)
            if (!B(i, j).matrix->written({i, j})) s.submit(tasks::laset(LasetArguments{}, B(i, j)));
}

/// The target after the redistribution, on every node.
template <class T>
std::vector<T> run_redistribution(Engine& engine, const Redistribution& r) {
    Stream s(engine);
    Matrix<T> A(s, r.from, owners(r.from_family, r.from.grid(), engine.node_count()));
    Matrix<T> B(s, r.to, owners(r.to_family, r.to.grid(), engine.node_count()), {.name = "B"});
    generate(s, A.view(), {source_element});
    if (r.target_has_values) generate(s, B.view(), {target_element});
    redistribute(s, source_view(r, A), B.view(), r.options);
    // Its source may be overwritten at once.
    generate(s, A.view(), {target_element});
    zero_what_was_not_written(s, B);
    std::vector<T> result = gather(s, B.view());
    RC_ASSERT(s.wait().ok());
    return result;
}

}  // namespace tesela::testing
