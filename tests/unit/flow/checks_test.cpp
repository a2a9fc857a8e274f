#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/lu.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

// What a wrong task or a wrong call of an algorithm says.

namespace tesela::checks_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

KernelResult nothing(const NoArguments&, TileSpan<double>) noexcept { return {}; }
constexpr auto nothing_kernel = make_kernel<nothing>("nothing");

KernelResult negative(const NoArguments&, TileSpan<double> x) noexcept {
    return x(0, 0) < 0 ? fail("a density is negative", 7) : KernelResult{};
}
constexpr auto negative_kernel = make_kernel<negative>("negative");

KernelResult at_ten(const NoArguments&, TileSpan<double>) noexcept { return {.index = std::vector<Index>(3).at(10)}; }
constexpr auto throwing_kernel = make_kernel<at_ten>("at_ten");

Stream* used_in_kernel = nullptr;
KernelResult waits(const NoArguments&, TileSpan<double>) noexcept {
    (void)used_in_kernel->wait();
    return {};
}
constexpr auto waiting_kernel = make_kernel<waits>("waiting");

template <class Function>
void expect_error(const Function& function, const char* text) {
    EXPECT_THAT(function, ThrowsMessage<Error>(HasSubstr(text)));
}

struct Wrong : ::testing::Test {
    InlineEngine engine{2};
    Stream s{engine};
    Tiling tiling = Tiling::square(6, 3);
    Matrix<double> A{s, tiling, squarest_block_cyclic({2, 2}, 2)};
    Matrix<double> L{s, tiling, squarest_block_cyclic({2, 2}, 2), {.name = "L", .stored = Stored::lower}};
    Scalar<double> sum{s};

    void SetUp() override {
        fill(s, A, {.off_diagonal = 1, .diagonal = 9});
        fill(s, L, {.off_diagonal = 1, .diagonal = 9});
    }
    void submit(const TileOf<double>& tile) { s.submit(Task(nothing_kernel, read_write(tile))); }
};

TEST_F(Wrong, TilesThatAreNotThere) {
    expect_error([&] { submit(A(2, 0)); }, "tile (2, 0) is not in this view of matrix A, which has 2x2 tiles");
    expect_error([&] { submit(A(0, -1)); }, "tile (0, -1)");
    expect_error([&] { submit(L(0, 1)); }, "tile (0, 1) of matrix L, which stores its lower triangle only");
    expect_error([&] { s.move(A(9, 9), NodeId{1}); }, "tile (9, 9)");
    expect_error([&] { s.retire(L(0, 1)); }, "lower triangle only");
    expect_error([&] { (void)s.fetch(A(0, 2)); }, "tile (0, 2)");
    expect_error([&] { submit({}); }, "a tile of no matrix");
}

TEST_F(Wrong, NodesThatDoNotExist) {
    for (const Index node : {Index{2}, Index{-1}}) {
        expect_error([&] { s.submit(Task(nothing_kernel, read_write(A(0, 0))).on(NodeId{node})); },
                     "there are 2 nodes");
        expect_error([&] { s.move(A(0, 0), NodeId{node}); }, "there are 2 nodes");
        const std::vector<NodeId> readers{NodeId{node}};
        expect_error([&] { s.share(A(0, 0), readers); }, "there are 2 nodes");
    }
}

TEST_F(Wrong, MatricesOfAnotherEngine) {
    InlineEngine other;
    Stream elsewhere(other);
    Matrix<double> B(elsewhere, tiling, squarest_block_cyclic({2, 2}, 1), {.name = "B"});
    fill(elsewhere, B, {});
    expect_error([&] { submit(B(0, 0)); }, "matrix B, which belongs to another engine or is gone");
}

TEST_F(Wrong, TilesThatATaskHasTwiceAndWrites) {
    const auto A00 = A(0, 0);
    for (const AccessMode mode : {AccessMode::write, AccessMode::commute, AccessMode::reduce})
        expect_error(
            [&] {
                s.submit(Task::unchecked(nothing_kernel, {{A00, AccessMode::read}, {A00, mode}}));
            },
            "nothing has tile (0, 0) of matrix A twice, and writes it: use another matrix for the result");
}

TEST_F(Wrong, ResultsThatAreOperands) {
    Matrix<double> B(s, tiling, squarest_block_cyclic({2, 2}, 2), {.name = "B"});
    fill(s, B, {});
    const auto twice = "of matrix A twice, and writes it";
    expect_error([&] { gemm<double>(s, A, B, A); }, twice);
    expect_error([&] { gemm<double>(s, B, A, A); }, twice);
    expect_error([&] { solve_triangular<double>(s, A.lower(), A); }, twice);
    EXPECT_NO_THROW(gemm<double>(s, A, A, B));
}

TEST_F(Wrong, ViewsAndArraysThatAreTooSmall) {
    expect_error([&] { (void)A.rows(2); }, "not in this view of matrix A");
    expect_error([&] { (void)A.col_begin(-1); }, "not in this view of matrix A");
    EXPECT_EQ(A.row_begin(2), 6);
    expect_error([&] { (void)A.tiles({0, 0}, {-1, 2}); }, "are not inside matrix A");
    double one = 0;
    expect_error([&] { (void)over_array(&one, 5, tiling, {.name = "X"}); },
                 "matrix X has 6 rows, and the array that it is to lie over has 5 from a column to the next");
    expect_error([&] { (void)over_array<double>(nullptr, 6, tiling); }, "an array that is null");
}

TEST_F(Wrong, StreamsInKernels) {
    used_in_kernel = &s;
    EXPECT_DEATH(s.submit(Task(waiting_kernel, read_write(A(1, 0)))),
                 "the kernel waiting, writing A\\(1, 0\\): it threw an exception \\(wait: a kernel cannot use stream");
}

TEST_F(Wrong, TasksOfNothing) {
    expect_error([&] { s.submit(Task()); }, "a task without a kernel was submitted to stream");
}

TEST_F(Wrong, KernelsWithoutCodeForAnyWorker) {
    static const Kernel nowhere{"nowhere", nothing_kernel.cost};
    expect_error(
        [&] {
            s.submit(Task::unchecked(nowhere, {{A(0, 0), AccessMode::read_write}}));
        },
        "no worker can run nowhere");
}

TEST_F(Wrong, MoreTilesThanATaskMayUse) {
    const Access a{A(0, 0), AccessMode::read};
    expect_error(
        [&] {
            (void)Task::unchecked(nothing_kernel, {a, a, a, a, a, a, a, a, a});
        },
        "a task of nothing cannot use 9 tiles: at most 8");
}

TEST_F(Wrong, TilesOfMoreThanOneElementAreNotRead) {
    expect_error([&] { (void)s.read(A(0, 0)); }, "takes a tile of one element");
}

TEST_F(Wrong, ShapesPartsAndTransposition) {
    Matrix<double> tall(s, Tiling::uniform({6, 3}, {3, 3}), squarest_block_cyclic({2, 1}, 2), {.name = "tall"});
    fill(s, tall, {});
    expect_error([&] { dot(s, A, tall, sum); }, "a dot product");
    expect_error([&] { dot(s, A, A.transposed(), sum); }, "transposed");
    expect_error([&] { dot(s, L, L, sum); }, "not its lower triangle only");
    expect_error([&] { dot(s, A, A, A); }, "1x1");
    expect_error([&] { log_determinant(s, tall, sum); }, "a log-determinant");
    expect_error([&] { gemm(s, L, A, A); }, "not its lower triangle only");
    expect_error([&] { lu(s, A.lower()); }, "not its lower triangle only");
    expect_error([&] { solve_cholesky(s, A.lower().transposed(), tall); }, "not a transposed view");
    expect_error([&] { solve_lu(s, tall, tall); }, "needs a square matrix");
    expect_error([&] { generate(s, A, {nullptr}); }, "A cannot be generated by no function");
}

TEST_F(Wrong, CutsAreToldAsRowsAndColumnsOfTheirMatrices) {
    const Tiling flat = Tiling::uniform({6, 6}, {2, 3});
    const Matrix<double> B(s, flat, squarest_block_cyclic(flat.grid(), 2), {.name = "B"});
    const Tiling narrow = Tiling::uniform({6, 6}, {3, 2});
    const Matrix<double> C(s, narrow, squarest_block_cyclic(narrow.grid(), 2), {.name = "C"});
    expect_error([&] { copy(s, A, B); }, "a copy: the rows of A are not cut into tiles as the rows of B are");
    expect_error([&] { copy(s, A, C); }, "a copy: the columns of A are not cut into tiles as the columns of C are");
    expect_error([&] { gemm(s, A, B, A); }, "a product: the columns of A are not cut into tiles as the rows of B are");
    expect_error([&] { gemm(s, C.transposed(), A, A); },
                 "a product: the columns of C are not cut into tiles as the rows of A are");
}

TEST_F(Wrong, AKernelThatThrowsIsNamedWithItsTile) {
    EXPECT_DEATH(s.submit(Task(throwing_kernel, read_write(A(1, 0)))),
                 "tesela: the kernel at_ten, writing A\\(1, 0\\): it threw an exception \\(vector::_M_range_check");
}

TEST_F(Wrong, AProductOverNothingScales) {
    const Tiling none = Tiling::uniform({0, 6}, {3, 3});
    Matrix<double> D(s, none, squarest_block_cyclic(none.grid(), 2), {.name = "D"});
    Matrix<double> C(s, tiling, squarest_block_cyclic({2, 2}, 2), {.name = "C"});
    gemm(s, D.transposed(), D, C, {.alpha = 1, .beta = 0});
    EXPECT_EQ(gather(s, C), std::vector<double>(36, 0));
    fill(s, C, {.off_diagonal = 2, .diagonal = 2});
    gemm(s, D.transposed(), D, C, {.alpha = 1, .beta = 5});
    EXPECT_EQ(gather(s, C), std::vector<double>(36, 10));
}

TEST_F(Wrong, AKernelFailsWithAReasonOfItsOwn) {
    fill(s, A, {.off_diagonal = -1, .diagonal = -1});
    s.submit(Task(negative_kernel, read_write(A(1, 1))));
    const Status status = s.wait();
    EXPECT_EQ(status.failure, Failure::stated);
    EXPECT_EQ(status.describe(), "a density is negative (at 7)");
}

TEST(Generate, KeepsAFunctionAsLongAsItIsNeeded) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(4, 2);
    Matrix<double> A(s, tiling, squarest_block_cyclic({2, 2}, 1));
    const auto table = std::make_shared<std::vector<double>>(16, 3.0);
    generate(s, A, [table](Index i, Index j) { return (*table)[static_cast<std::size_t>(4 * i + j)]; });
    EXPECT_EQ(table.use_count(), 2);
    EXPECT_EQ(gather(s, A), std::vector<double>(16, 3.0));
    require_done(s.wait());
    EXPECT_EQ(table.use_count(), 1);
}

TEST(Generate, AFunctionThatThrowsFailsTheStreamAndSaysInWhichRow) {
    InlineEngine engine;
    Stream s(engine);
    Matrix<double> A(s, Tiling::square(4, 2), squarest_block_cyclic({2, 2}, 1));
    generate(s, A, [](Index i, Index) { return i < 3 ? 1.0 : throw Error("row {} is missing", i); });
    const Status status = s.wait();
    EXPECT_EQ(status.failure, Failure::stated);
    EXPECT_EQ(status.describe(),
              "the function that generates the elements threw an exception (row 3 is missing), in the row of this "
              "index (at 3)");
}

TEST(Engine, NodesOfOneProcessBringTheSame) {
    InlineEngine engine(3);
    EXPECT_EQ(engine.gather(2.5), std::vector<double>(3, 2.5));
    EXPECT_EQ(engine.gather(std::string("a")), std::vector<std::string>(3, "a"));
    EXPECT_EQ(engine.max(4) + engine.min(3), 7);
    EXPECT_EQ(engine.broadcast(1.5, NodeId{2}), 1.5);
    engine.barrier();
    engine.require_alike("the data", 5);
}

}  // namespace
}  // namespace tesela::checks_test
