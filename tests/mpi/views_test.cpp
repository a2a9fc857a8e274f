#include "support/random_stream.hpp"
#include "support/shared_engine.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

// Views in kernels and algorithms of one's own on several nodes, against the inline engine; values after a failure.

namespace tesela::views_test {
namespace {

using testing::engine;

/// B(i, j) += A(i, j)·(1 + i) of the tile as it is seen.
KernelResult add_scaled_rows(const Index& first_row, TileSpan<const double> a, TileSpan<double> b) noexcept {
    for (Index j = 0; j < a.cols(); ++j)
        for (Index i = 0; i < a.rows(); ++i)
            if (a(i, j) != 0) b(i, j) += a(i, j) * static_cast<double>(1 + first_row + i);
    return {};
}
const auto add_kernel = make_kernel<add_scaled_rows>("add_scaled_rows");

void add_scaled(Stream& s, const MatrixView<double>& A, const MatrixView<double>& B) {
    for (Index i = 0; i < A.tile_rows(); ++i)
        for (Index j = 0; j < A.tile_cols(); ++j)
            s.submit(Task(add_kernel, A.row_begin(i), read(A(i, j)), read_write(B(i, j))));
}

/// B, of which a part and its transpose have been written by views.
std::vector<double> result_of(Engine& on, std::uint64_t seed) {
    Stream s(on, {.name = "views"});
    const Tiling tiling = Tiling::square(11, 3);
    const Matrix<double> A(s, tiling, random_distribution(tiling.grid(), on.node_count(), seed), {.name = "A"});
    const Matrix<double> B(s, tiling, random_distribution(tiling.grid(), on.node_count(), seed + 1), {.name = "B"});
    generate(s, A.view(), [](Index i, Index j) { return static_cast<double>(1 + 13 * i + j); });
    fill(s, B.view(), {.off_diagonal = 1, .diagonal = 2});
    add_scaled(s, A.transposed(), B.view());
    add_scaled(s, A.view(), B.transposed());
    add_scaled(s, A.lower(), B.view());
    add_scaled(s, A.lower().transposed(), B.as(Part::upper));
    add_scaled(s, A.tiles({1, 0}, {2, 3}), B.tiles({0, 0}, {2, 3}));
    add_scaled(s, A.tiles({1, 0}, {2, 3}).transposed(), B.tiles({0, 1}, {3, 2}));
    std::vector<double> result = gather(s, B.view());
    require_done(s.wait());
    return result;
}

TEST(Views, KernelsSeeTheSameOnAnyNodes) {
    InlineEngine inline_engine(engine().node_count());
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
        EXPECT_EQ(result_of(engine(), seed), result_of(inline_engine, seed));
}

/// y := y + a·x by elements.
KernelResult multiply(const NoArguments&, TileSpan<const double> a, TileSpan<const double> x,
                      TileSpan<double> y) noexcept {
    for (Index j = 0; j < a.cols(); ++j)
        for (Index i = 0; i < a.rows(); ++i) y(i, 0) += a(i, j) * x(j, 0);
    return {};
}
const auto multiply_kernel = make_kernel<multiply>("multiply");

/// y := A·x, as docs/own_code.md has it.
void product(Stream& s, const MatrixView<double>& A, const MatrixView<double>& x, const MatrixView<double>& y) {
    fill(s, y, {});
    for (Index j = 0; j < A.tile_cols(); ++j) {
        s.share_with_owners(x(j, 0), {A.block({0, j}, {A.tile_rows(), j + 1})});
        for (Index i = 0; i < A.tile_rows(); ++i)
            s.submit(Task(multiply_kernel, read(A(i, j)), read(x(j, 0)), reduce(y(i, 0))).on(A(i, j).owner()));
    }
}

double element(Index i, Index j) { return static_cast<double>(1 + 13 * i + j); }

std::vector<Index> random_cuts(testing::Draw& draw) {
    std::vector<Index> cuts{0};
    for (Index tiles = draw.between(1, 5); tiles > 0; --tiles) cuts.push_back(cuts.back() + draw.between(1, 4));
    return cuts;
}

/// Some of the tiles, maybe a triangle of them, maybe transposed, before or after.
MatrixView<double> random_view(testing::Draw& draw, MatrixView<double> of) {
    for (int times = 0; times < 2; ++times) {
        const TileIndex first{draw.below(of.tile_rows()), draw.below(of.tile_cols())};
        of = of.tiles(first, {draw.between(1, of.tile_rows() - first.i), draw.between(1, of.tile_cols() - first.j)});
        if (draw.one_in(2)) of = of.transposed();
        of = of.as(draw.of<Part>({Part::all, Part::lower, Part::upper}));
    }
    return of;
}

/// V·(1, 2, 3, …) from the elements of A.
std::vector<double> expected_product(const MatrixView<double>& V) {
    const auto end = [](const MatrixView<double>& of) {
        return of.row_begin(of.tile_rows() - 1) + of.rows(of.tile_rows() - 1);
    };
    const Index first_row = V.row_begin(0);
    const Index first_col = V.col_begin(0);
    std::vector<double> y;
    for (Index i = first_row; i < end(V); ++i) {
        y.push_back(0);
        for (Index j = first_col; j < end(V.transposed()); ++j) {
            const Index below = (i - first_row) - (j - first_col);
            if (V.part() == Part::lower ? below < 0 : V.part() == Part::upper && below > 0) continue;
            y.back() += (V.op() == Op::none ? element(i, j) : element(j, i)) * static_cast<double>(1 + j - first_col);
        }
    }
    return y;
}

struct Products {
    std::vector<double> found, expected;
};

Products random_product(Engine& on, std::uint64_t seed) {
    testing::Draw draw(seed);
    Stream s(on, {.name = "products"});
    const auto matrix = [&](const Tiling& tiling, const char* name) {
        const auto owners = static_cast<std::uint64_t>(draw.below(1000));
        return Matrix<double>(s, tiling, random_distribution(tiling.grid(), on.node_count(), owners), {.name = name});
    };
    const auto row_cuts = random_cuts(draw);
    const Matrix<double> A = matrix(Tiling::from_cuts(row_cuts, random_cuts(draw)), "A");
    const MatrixView<double> V = random_view(draw, A);
    const auto column = [&](const MatrixView<double>& cut_as, const char* name) {
        std::vector<Index> cuts{0};
        for (Index i = 0; i < cut_as.tile_rows(); ++i) cuts.push_back(cuts.back() + cut_as.rows(i));
        return matrix(Tiling::from_cuts(cuts, {0, 1}), name);
    };
    const Matrix<double> x = column(V.transposed(), "x");
    const Matrix<double> y = column(V, "y");
    generate(s, A, element);
    generate(s, x, [](Index i, Index) { return static_cast<double>(i + 1); });
    product(s, V, x, y);
    Products result{gather(s, y.view()), expected_product(V)};
    require_done(s.wait());
    return result;
}

RC_GTEST_PROP(Views, AProductOfOnesOwnIsRightForAnyView, (std::uint64_t seed)) {
    const auto [found, expected] = random_product(engine(), seed);
    RC_ASSERT(found == expected);
    InlineEngine inline_engine(engine().node_count());
    RC_ASSERT(random_product(inline_engine, seed).found == expected);
}

KernelResult refuse(const NoArguments&, TileSpan<double>) noexcept { return fail("no", 3); }
const auto refuse_kernel = make_kernel<refuse>("refuse");

TEST(Views, ValuesThatWereNotComputedAreNotGivenOutOnAnyNode) {
    for (Index node = 0; node < engine().node_count(); ++node) {
        Stream s(engine(), {.name = "failing"});
        const Scalar<double> before(s, {.name = "before"});
        const Scalar<double> sum(s, {.name = "sum"}, NodeId{node});
        fill(s, before.view(), {.off_diagonal = 4, .diagonal = 4});
        require_done(s.wait());
        fill(s, sum.view(), {.off_diagonal = 5, .diagonal = 5});
        s.submit(Task(refuse_kernel, read_write(sum.tile())));
        const Future<double> value = sum.value(s);
        const Future<double> kept = before.value(s);
        EXPECT_THROW((void)value.get(), Error);
        EXPECT_EQ(kept.get(), 4);
        EXPECT_EQ(s.wait().describe(), "no (at 3)");
        EXPECT_EQ(before.value(s).get(), 4);
        EXPECT_THROW((void)sum.value(s), Error);

        fill(s, sum.view(), {.off_diagonal = 6, .diagonal = 6});
        s.submit(Task(refuse_kernel, read_write(sum.tile())));
        EXPECT_THAT([&] { (void)gather(s, sum.view()); }, ::testing::ThrowsMessage<Error>("no (at 3)"));
        EXPECT_TRUE(s.wait().ok());
    }
}

KernelResult set_element(const ElementIndex& at, TileSpan<double> a) noexcept {
    a(at.i, at.j) = 1;
    return {};
}
const auto set_kernel = make_kernel<set_element>("set_element");

TEST(Views, AnElementOutsideOfATriangleFailsTheStream) {
    Stream s(engine(), {.name = "outside"});
    const Tiling tiling = Tiling::square(4, 2);
    const Matrix<double> L(s, tiling, squarest_block_cyclic(tiling.grid(), engine().node_count()),
                           {.stored = Stored::lower});
    fill(s, L.view(), {});
    s.submit(Task(set_kernel, {0, 1}, read_write(L(1, 1))));
    EXPECT_EQ(s.wait().describe(),
              "set_element used element (0, 1) of its tile 0, outside of the lower triangle of "
              "2 x 2 elements (all counted from 0)");
}

TEST(Views, ATaskKeepsWhatItNeedsOfAKernel) {
    Stream s(engine(), {.name = "kernels"});
    const Scalar<double> sum(s);
    fill(s, sum.view(), {});
    for (int k = 0; k < 100; ++k) {
        const std::string name = "local_" + std::to_string(k % 10);
        const auto local = make_kernel<set_element>(name.c_str());
        s.submit(Task(local, {0, 0}, read_write(sum.tile())));
    }
    EXPECT_EQ(sum.value(s).get(), 1);
    require_done(s.wait());
}

}  // namespace
}  // namespace tesela::views_test
