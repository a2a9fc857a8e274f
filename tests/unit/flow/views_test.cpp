#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/kernels/compressed_tile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

// What kernels of one's own see of views, and what is said of those that cannot deal with one.

namespace tesela::views_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// y := y + a·x by elements.
KernelResult multiply(const NoArguments&, TileSpan<const double> a, TileSpan<const double> x,
                      TileSpan<double> y) noexcept {
    for (Index j = 0; j < a.cols(); ++j)
        for (Index i = 0; i < a.rows(); ++i) y(i, 0) += a(i, j) * x(j, 0);
    return {};
}
KernelCost cost_of_rows(std::span<const TileShape> shapes, const void*) noexcept {
    return {.flops = static_cast<double>(shapes[0].rows), .bytes = 0};
}
const auto multiply_kernel = make_kernel<multiply>("multiply", cost_of_rows);

KernelResult multiply_stored(const NoArguments&, StoredTile<const double> a, TileSpan<double> y) noexcept {
    y(0, 0) = a.data()[0];
    return {};
}
const auto stored_kernel = make_kernel<multiply_stored>("multiply_stored");

KernelResult set_corner(const ElementIndex& at, TileSpan<double> a) noexcept {
    a(at.i, at.j) = 1;
    return {};
}
const auto corner_kernel = make_kernel<set_corner>("set_corner");

double element(Index i, Index j) { return static_cast<double>(1 + 10 * i + j); }

struct Views : ::testing::Test {
    InlineEngine engine{2, TileChecks::bounds};
    Stream s{engine};
    Tiling tiling = Tiling::uniform({7, 5}, {3, 2});
    Matrix<double> A{s, tiling, squarest_block_cyclic(tiling.grid(), 2)};

    void SetUp() override { generate(s, A.view(), element); }

    /// V·(1, 2, 3, …), by the kernel.
    std::vector<double> times_numbers(const MatrixView<double>& V) {
        std::vector<Index> row_cuts{0};
        std::vector<Index> col_cuts{0};
        for (Index i = 0; i < V.tile_rows(); ++i) row_cuts.push_back(row_cuts.back() + V.rows(i));
        for (Index j = 0; j < V.tile_cols(); ++j) col_cuts.push_back(col_cuts.back() + V.cols(j));
        const auto column = [&](const std::vector<Index>& cuts, const char* name) {
            const Tiling of = Tiling::from_cuts(cuts, {0, 1});
            return Matrix<double>(s, of, squarest_block_cyclic(of.grid(), 2), {.name = name});
        };
        const Matrix<double> x = column(col_cuts, "x");
        const Matrix<double> y = column(row_cuts, "y");
        generate(s, x.view(), [](Index i, Index) { return static_cast<double>(i + 1); });
        fill(s, y.view(), {});
        for (Index i = 0; i < V.tile_rows(); ++i)
            for (Index j = 0; j < V.tile_cols(); ++j)
                s.submit(Task(multiply_kernel, read(V(i, j)), read(x(j, 0)), read_write(y(i, 0))));
        return gather(s, y.view());
    }
    /// The same from the elements.
    std::vector<double> expected(const MatrixView<double>& V) {
        const std::vector<double> all = gather(s, V);
        Index cols = 0;
        for (Index j = 0; j < V.tile_cols(); ++j) cols += V.cols(j);
        const Index rows = static_cast<Index>(all.size()) / cols;
        std::vector<double> product(static_cast<std::size_t>(rows));
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < rows; ++i)
                product[static_cast<std::size_t>(i)] +=
                    all[static_cast<std::size_t>(i + j * rows)] * static_cast<double>(j + 1);
        return product;
    }
};

TEST_F(Views, AKernelSeesOperationsTrianglesAndParts) {
    for (const MatrixView<double>& V :
         {A.view(), A.transposed(), A.lower(), A.as(Part::upper), A.lower().transposed(), A.tiles({1, 0}, {2, 2}),
          A.tiles({1, 1}, {2, 2}).as(Part::lower), A.transposed().tiles({0, 1}, {3, 2}).as(Part::upper)})
        EXPECT_EQ(times_numbers(V), expected(V));
    EXPECT_EQ(times_numbers(A.transposed())[0], 1 * 1 + 2 * 11 + 3 * 21 + 4 * 31 + 5 * 41 + 6 * 51 + 7 * 61);
}

TEST_F(Views, CostsAreOfTheTileAsItIsSeen) {
    RecordingEngine recorder(1);
    {
        Stream r(recorder);
        const Matrix<double> B(r, tiling, squarest_block_cyclic(tiling.grid(), 1));
        const Matrix<double> x(r, Tiling::square(3, 3), squarest_block_cyclic({1, 1}, 1));
        const Matrix<double> y(r, Tiling::square(3, 3), squarest_block_cyclic({1, 1}, 1));
        for (const auto& each : {B.view(), x.view(), y.view()}) fill(r, each, {});
        r.submit(Task(multiply_kernel, read(B.transposed()(0, 0)), read(x(0, 0)), read_write(y(0, 0))).on(NodeId{0}));
        require_done(r.wait());
    }
    EXPECT_EQ(recorder.recording().items.back().cost.flops, 2);
}

TEST_F(Views, AKernelThatKnowsOfNoViewsIsRefusedThem) {
    const Scalar<double> y(s);
    const auto submit = [&](const TileOf<double>& tile) { s.submit(Task(stored_kernel, read(tile), write(y.tile()))); };
    submit(A(1, 0));
    submit(A.lower()(1, 0));  // all of this tile is meant
    submit(A.transposed()(0, 1).stored());
    EXPECT_THAT([&] { submit(A.transposed()(0, 1)); },
                ThrowsMessage<Error>(HasSubstr("multiply_stored takes its tile 0 as it is stored, and tile (1, 0) of "
                                               "matrix A is meant transposed: write the kernel with TileSpan")));
    EXPECT_THAT([&] { submit(A.lower()(0, 0)); }, ThrowsMessage<Error>(HasSubstr("is meant as a triangle")));
    EXPECT_THAT([&] { s.submit(Task(Dense<double>::geadd, {}, read(A.transposed()(0, 0)), read_write(A(0, 0)))); },
                ThrowsMessage<Error>(HasSubstr("dgeadd takes its tile 0 as it is stored")));
    EXPECT_THAT([&] { s.submit(tasks::gemm<double>(1, A(0, 0), A.lower().transposed()(0, 0), 1, A(0, 0))); },
                ThrowsMessage<Error>(HasSubstr("dgemm takes its tile 1 as it is stored, and tile (0, 0) of matrix A is "
                                               "meant as a triangle")));
    require_done(s.wait());
}

TEST_F(Views, TilesOutsideOfAViewAreNotThere) {
    const MatrixView<double> V = A.tiles({0, 0}, {2, 2});
    EXPECT_THAT([&] { (void)V(2, 0); },
                ThrowsMessage<Error>("tile (2, 0) is not in this view of matrix A, which has 2x2 tiles"));
    EXPECT_THROW((void)V.transposed()(0, 2), Error);
    EXPECT_THROW((void)V(-1, 0), Error);
}

TEST_F(Views, AnElementOutsideOfATileFailsTheStreamWithItsPlace) {
    for (const ElementIndex at : {ElementIndex{3, 0}, {0, 2}, {-1, 0}}) {
        s.submit(Task(corner_kernel, at, read_write(A(0, 0))));
        const Status status = s.wait();
        EXPECT_EQ(status.failure, Failure::outside);
        EXPECT_EQ(status.describe(), fmt::format("set_corner used element ({}, {}) of its tile 0, outside of 3 x 2 "
                                                 "elements (all counted from 0)",
                                                 at.i, at.j));
        generate(s, A.view(), element);
    }
    s.submit(Task(corner_kernel, {2, 1}, read_write(A(0, 0))));
    EXPECT_TRUE(s.wait().ok());
}

TEST(ViewsUnwatched, WritesOutsideOfATriangleFailWithoutBeingAskedFor) {
    InlineEngine engine(1, TileChecks::none);
    Stream s(engine);
    Matrix<double> L(s, Tiling::square(4, 2), squarest_block_cyclic({2, 2}, 1), {.stored = Stored::lower});
    fill(s, L.view(), {});
    s.submit(Task(corner_kernel, {1, 0}, read_write(L(1, 1))));
    require_done(s.wait());
    s.submit(Task(corner_kernel, {0, 1}, read_write(L(1, 1))));
    EXPECT_THAT(s.wait().describe(), HasSubstr("outside of the lower triangle of 2 x 2 elements"));
}

Task named_task(const std::string& name, const TileOf<double>& tile) {
    const auto local = make_kernel<set_corner>(name.c_str());
    return {local, {}, read_write(tile)};
}

TEST_F(Views, ATaskKeepsWhatItNeedsOfAKernel) {
    RecordingEngine recorder(1);
    Stream r(recorder);
    const Scalar<double> sum(r);
    {
        std::string name = "local";
        auto local = std::make_unique<decltype(corner_kernel)>(make_kernel<set_corner>(name.c_str()));
        fill(r, sum.view(), {});
        r.submit(Task(*local, {}, read_write(sum.tile())));
        r.submit(Task(make_kernel<set_corner>("temporary"), {}, read_write(sum.tile())));
        local.reset();
        name = "gone, and something longer stands in its place";
        const std::vector<Task> tasks{named_task("returned", sum.tile()), named_task("another", sum.tile())};
        for (const Task& task : tasks) r.submit(task);
    }
    require_done(r.wait());
    const auto counts = recorder.recording().count_by_kernel();
    EXPECT_EQ(counts.at("local"), 1);
    EXPECT_EQ(counts.at("temporary"), 1);
    EXPECT_EQ(counts.at("returned"), 1);
    EXPECT_EQ(counts.at("another"), 1);
}

/// Elements of U·Vᵀ, and by its factors.
KernelResult read_compressed(const NoArguments&, TileSpan<const double, TileForms::any> a,
                             TileSpan<double> all) noexcept {
    if (all.rows() != a.rows() || all.cols() != a.cols()) return fail("shapes");
    for (Index j = 0; j < a.cols(); ++j)
        for (Index i = 0; i < a.rows(); ++i) {
            double sum = 0;
            for (Index k = 0; k < a.rank(); ++k) sum += a.u(i, k) * a.v(j, k);
            if (a.rank() != dense_rank && sum != a(i, j)) return fail("factors differ from elements", i);
            all(i, j) = a(i, j);
        }
    return {};
}
const auto compressed_kernel = make_kernel<read_compressed>("read_compressed");

TEST_F(Views, AKernelCanReadCompressedTiles) {
    const Tiling square = Tiling::square(6, 3);
    const Distribution owners = squarest_block_cyclic({2, 2}, 2);
    const Matrix<double> C(s, square, owners, {.name = "C", .compression = Compression{.accuracy = 1e-12}});
    const Matrix<double> D(s, square, owners, {.name = "D"});
    generate(s, C.view(), [](Index i, Index j) { return static_cast<double>((i + 1) * (j + 1)); });
    fill(s, D.view(), {});
    s.submit(Task(compressed_kernel, read(C(1, 0)), write(D(1, 0))));
    s.submit(Task(compressed_kernel, read(C.transposed()(1, 0)), write(D(0, 1))));
    const std::vector<double> found = gather(s, D.view());
    require_done(s.wait());
    for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 3; ++j) {
            const auto exact = static_cast<double>((i + 4) * (j + 1));
            EXPECT_NEAR(found[static_cast<std::size_t>(3 + i + 6 * j)], exact, 1e-11);
            EXPECT_NEAR(found[static_cast<std::size_t>(i + 6 * (j + 3))], static_cast<double>((j + 1) * (i + 4)),
                        1e-11);
        }
    EXPECT_THAT([&] { s.submit(Task(multiply_kernel, read(C(1, 0)), read(D(0, 0)), read_write(D(0, 0)))); },
                ThrowsMessage<Error>(HasSubstr("works on tiles with all their elements")));
}

/// A product of a column and a row, as one that has twice as many columns as it needs.
KernelResult write_compressed(const double& factor, CompressibleTile<double> c) noexcept {
    if (!(c.accuracy() > 0)) return fail("it is not to be compressed");
    std::vector<double> u;
    for (int twice = 0; twice < 2; ++twice)
        for (Index i = 0; i < c.rows(); ++i) u.push_back(factor * static_cast<double>(i + 1));
    const std::vector<double> v(static_cast<std::size_t>(2 * c.cols()), 0.5);
    return c.store(u.data(), v.data(), 2);
}
KernelResult check_rank(const Index& rank, TileSpan<const double, TileForms::any> c) noexcept {
    return c.rank() == rank ? KernelResult{} : fail("another rank", c.rank());
}

TEST_F(Views, AKernelCanStoreItsTileAsAProduct) {
    const Matrix<double> C(s, Tiling::square(12, 6), squarest_block_cyclic({2, 2}, 2),
                           {.name = "C", .compression = Compression{.accuracy = 1e-12}});
    fill(s, C.view(), {});
    s.submit(Task(make_kernel<write_compressed>("write_compressed"), 3.0, write(C(1, 0))));
    s.submit(Task(make_kernel<check_rank>("check_rank"), Index{1}, read(C(1, 0))).on(NodeId{0}));
    const std::vector<double> found = gather(s, C.view());
    require_done(s.wait());
    for (Index i = 0; i < 6; ++i)
        EXPECT_NEAR(found[static_cast<std::size_t>(6 + i)], 3.0 * static_cast<double>(i + 1), 1e-11);
}

// After a failure.

KernelResult refuse(const NoArguments&, TileSpan<double>) noexcept { return fail("no", 3); }
const auto refuse_kernel = make_kernel<refuse>("refuse");
enum class Heard : std::uint8_t { no, yes };

TEST_F(Views, ValuesThatWereNotComputedAreNotGivenOut) {
    const Scalar<double> sum(s);
    fill(s, sum.view(), {.off_diagonal = 5, .diagonal = 5});
    s.submit(Task(refuse_kernel, read_write(sum.tile())));
    const Future<double> value = sum.value(s);
    EXPECT_THAT([&] { (void)value.get(); }, ThrowsMessage<Error>(HasSubstr("this value was not computed")));
    EXPECT_EQ(s.wait().describe(), "no (at 3)");
    EXPECT_THROW((void)value.get(), Error);
    EXPECT_THAT([&] { (void)sum.value(s); },
                ThrowsMessage<Error>(HasSubstr("which work that has failed was to write: write it again first")));
    EXPECT_THAT([&] { (void)gather(s, A.view()); }, ThrowsMessage<Error>(HasSubstr("which work that has failed")));
    fill(s, sum.view(), {.off_diagonal = 6, .diagonal = 6});
    EXPECT_EQ(sum.value(s).get(), 6);
}

TEST_F(Views, WhatWasNotComputedIsNotRedistributed) {
    const Matrix<double> B(s, Tiling::uniform({7, 5}, {4, 4}), squarest_block_cyclic({2, 2}, 2), {.name = "B"});
    redistribute(s, A.view(), B.view());
    require_done(s.wait());
    s.submit(Task(refuse_kernel, read_write(A(0, 0))));
    EXPECT_FALSE(s.wait().ok());
    EXPECT_THAT([&] { redistribute(s, A.view(), B.view()); },
                ThrowsMessage<Error>(HasSubstr("redistribute reads tile (0, 0) of matrix A, which work that has "
                                               "failed was to write")));
    EXPECT_EQ(gather(s, B.view())[0], element(0, 0));
}

TEST_F(Views, AStreamThatFailsUnheardSaysSoAndEndsTheProgramWith1) {
    const auto leave = [&](Heard heard) {
        {
            Stream t(engine, {.name = "t"});
            const Scalar<double> sum(t);
            fill(t, sum.view(), {});
            t.submit(Task(refuse_kernel, read_write(sum.tile())));
            if (heard == Heard::yes) (void)t.wait();
        }
        std::exit(EXIT_SUCCESS);
    };
    EXPECT_EXIT(leave(Heard::no), ::testing::ExitedWithCode(1),
                "^tesela: stream t failed, and nobody waited for it to hear so: no \\(at 3\\)\n$");
    EXPECT_EXIT(leave(Heard::yes), ::testing::ExitedWithCode(0), "^$");
}

TEST_F(Views, GatherSaysWhyThereIsNothingToGather) {
    require_done(s.wait());
    s.submit(Task(refuse_kernel, read_write(A(0, 0))));
    EXPECT_THAT([&] { (void)gather(s, A.view()); }, ThrowsMessage<Error>("no (at 3)"));
    EXPECT_TRUE(s.wait().ok());
}

}  // namespace
}  // namespace tesela::views_test
