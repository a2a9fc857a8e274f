#include "limits/limited.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/distribution/families.hpp"

#include <gtest/gtest.h>

namespace tesela {
namespace {

KernelResult set_element(const ElementIndex& at, TileSpan<double> a) noexcept {
    a(at.i, at.j) = 1;
    return {};
}
const auto set_kernel = make_kernel<set_element>("set_element");

TEST(Checks, FindElementsOutsideOfTilesOnAnyNode) {
    StarpuEngine engine({.workers = 1, .warnings = Warnings::keep, .checks = TileChecks::bounds});
    Stream s(engine, {.name = "checked"});
    const Tiling tiling = Tiling::uniform({6, 4}, {3, 2});
    const Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()));
    const auto set = [&](const MatrixView<double>& V, ElementIndex at) {
        fill(s, A, {});
        s.submit(Task(set_kernel, at, read_write(V(1, 1))));
        return s.wait().describe();
    };
    EXPECT_EQ(set(A, {2, 1}), "done");
    EXPECT_EQ(set(A, {3, 0}),
              "set_element used element (3, 0) of its tile 0, outside of 3 x 2 elements (all counted from 0)");
    EXPECT_EQ(set(A.transposed(), {1, 2}), "done");
    EXPECT_EQ(set(A.transposed(), {2, 1}),
              "set_element used element (2, 1) of its tile 0, outside of 2 x 3 elements (all counted from 0)");
}

}  // namespace
}  // namespace tesela
