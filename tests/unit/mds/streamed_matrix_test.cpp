#include "tesela/mds/streamed_matrix.hpp"

#include "support/mds.hpp"
#include "support/temporary_directory.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/heterogeneous.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tesela::streamed_matrix_test {
namespace {

using ::testing::HasSubstr;

RC_GTEST_PROP(StreamedMatrix, GramMatrixAndProductAreThoseOfThePointsAboutTheirMean, ()) {
    const testing::MdsCase c{.points = *rc::gen::inRange<Index>(1, 60),
                             .tile = *rc::gen::inRange<Index>(1, 25),
                             .columns = *rc::gen::inRange<Index>(1, 30),
                             .seed = *rc::gen::inRange<std::uint64_t>(0, 1000)};
    RC_LOG() << c.name();
    InlineEngine engine(*rc::gen::inRange<Index>(1, 5));
    RC_ASSERT(testing::run_mds(engine, c) <= 1);
}

/// Tasks by phase and kernel.
std::map<std::pair<std::string, std::string>, Index> counted(const Recording& recording) {
    std::map<std::pair<std::string, std::string>, Index> counts;
    for (const RecordedItem& item : recording.items)
        if (item.kind == RecordedItem::Kind::task)
            ++counts[{recording.phases[static_cast<std::size_t>(item.phase)], item.kernel->name}];
    return counts;
}

struct Owners {
    Distribution read;
    Distribution compute;
};

StreamedSpec distances(const Tiling& tiling, Index columns, const Owners& owners) {
    return {.tiling = tiling,
            .read = owners.read,
            .compute = owners.compute,
            .columns = columns,
            .centring = StreamedSpec::Centring::tiles_too};
}

Recording recorded(const Tiling& tiling, Index columns, const Owners& owners) {
    RecordingEngine engine(owners.compute.nodes());
    {
        Stream s(engine);
        StreamedMatrix m(s, distances(tiling, columns, owners));
        const Matrix<double> X = m.make_right("Omega");
        const Matrix<double> Y = m.make_left("Y");
        testing::generate_normal(s, X, 0);
        m.first_product(X, Y);
        EXPECT_TRUE(s.wait().ok());
    }
    return engine.take();
}

TEST(StreamedMatrix, EachTileIsReadSquaredMultipliedAndCentred) {
    const Index nb = 7;
    const Distribution rows = one_dimensional({nb, nb}, {1, 2, 4});
    const Recording recording = recorded(Tiling::square(nb * 64, 64), 100, {.read = rows, .compute = rows});
    auto counts = counted(recording);
    EXPECT_EQ((counts[{"read", "dread"}]), nb * nb);
    EXPECT_EQ((counts[{"gram", "dgram"}]), nb * nb);
    EXPECT_EQ((counts[{"product", "dgemm"}]), 2 * nb * nb);  // 100 columns in two tiles of 50
    EXPECT_EQ((counts[{"product", "dlaset"}]), 2 * nb);
    EXPECT_EQ((counts[{"centre", "dcentre"}]), nb * nb + 2 * nb);
    for (const RecordedItem& item : recording.items) {
        if (item.kind != RecordedItem::Kind::task) continue;
        const bool reads = std::string(item.kernel->name) == "dread";
        EXPECT_EQ(item.resource != 0, reads);
    }
    ASSERT_EQ(recording.resources.size(), 1U);
    EXPECT_EQ(recording.resources[0].name, reader_resource);
    EXPECT_EQ(recording.resources[0].at_most, 5);
}

/// Tiles of D that are given to another node.
Index moved_tiles(const Recording& recording) {
    Index moved = 0;
    for (const RecordedItem& item : recording.items)
        if (item.kind == RecordedItem::Kind::move) {
            const RecordedDatum& datum = recording.data[static_cast<std::size_t>(recording.accesses_of(item)[0].datum)];
            EXPECT_EQ(recording.matrices[static_cast<std::size_t>(datum.matrix)], "D");
            ++moved;
        }
    return moved;
}

TEST(StreamedMatrix, TilesMoveFromWhereTheyAreReadToWhereTheyAreComputedWithAndNoFurther) {
    const Index nb = 6;
    const Tiling tiling = Tiling::square(nb * 32, 32);
    const Distribution rows = one_dimensional({nb, nb}, {1, 1, 4});
    const Distribution turns = block_cyclic({nb, nb}, {.p = 3, .q = 1});
    Index apart = 0;
    for (Index i = 0; i < nb; ++i)
        if (rows.owner({i, 0}) != turns.owner({i, 0})) ++apart;
    ASSERT_GT(apart, 0);
    EXPECT_EQ(moved_tiles(recorded(tiling, 20, {.read = turns, .compute = rows})), apart * nb);
    // Under 1D a row of D and its row of the product are on one node: products need messages with Ω alone.
    const Recording recording = recorded(tiling, 20, {.read = rows, .compute = rows});
    EXPECT_EQ(moved_tiles(recording), 0);
    for (const RecordedItem& item : recording.items) {
        if (item.kind != RecordedItem::Kind::task || std::string(item.kernel->name) != "dgemm") continue;
        const auto accesses = recording.accesses_of(item);
        const TileIndex d = recording.data[static_cast<std::size_t>(accesses[0].datum)].index;
        EXPECT_EQ(item.node, rows.owner(d).number());
    }
}

TEST(StreamedMatrix, PrioritiesFollowTheRowsFromTheirStepOn) {
    const Tiling tiling = Tiling::square(100, 10);
    const Distribution all = squarest_block_cyclic(tiling.grid(), 1);
    StreamedSpec spec = distances(tiling, 5, {.read = all, .compute = all});
    EXPECT_EQ(spec.priority(0), 10);
    EXPECT_EQ(spec.priority(9), 1);
    spec.step = StreamingStep::read_order;
    EXPECT_EQ(spec.priority(0), 0);
}

TEST(StreamedMatrix, WhatDoesNotFitIsRefused) {
    RecordingEngine engine(2);
    Stream s(engine);
    const auto refused = [&](const Tiling& tiling, Index columns, const Distribution& compute) {
        return message_of<Error>([&] {
            const StreamedMatrix m(
                s, distances(tiling, columns, {.read = squarest_block_cyclic(tiling.grid(), 2), .compute = compute}));
        });
    };
    const Distribution fits = squarest_block_cyclic({4, 4}, 2);
    EXPECT_THAT(refused(Tiling::uniform({40, 30}, {10, 10}), 5, fits), HasSubstr("4 x 3 tiles"));
    EXPECT_THAT(refused(Tiling::square(40, 10), 0, fits), HasSubstr("at least 1 column"));
    EXPECT_THAT(refused(Tiling::square(40, 10), 5, squarest_block_cyclic({5, 5}, 2)),
                HasSubstr("owners are for 5 x 5"));
}

TEST(StreamedMatrix, ReadingWithoutAFileIsForEnginesWithoutData) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(20, 10);
    const Distribution all = squarest_block_cyclic(tiling.grid(), 1);
    StreamedMatrix m(s, distances(tiling, 5, {.read = all, .compute = all}));
    const Matrix<double> X = m.make_right("Omega");
    const Matrix<double> Y = m.make_left("Y");
    testing::generate_normal(s, X, 0);
    EXPECT_THAT(message_of<Error>([&] { m.first_product(X, Y); }), HasSubstr("no worker can run dread"));
}

/// A matrix in memory that is read by panels, and what is to be made of it, by the definitions.
struct Table {
    Index rows = 0;
    Index cols = 0;
    BorderRule rule = BorderRule::distances;
    std::vector<double> weights;
    std::vector<double> values;  ///< by rows

    Table(BorderRule its_rule, Index m, Index n, std::uint64_t seed) : rows(m), cols(n), rule(its_rule) {
        const Random random(seed);
        for (Index i = 0; i < m; ++i)
            for (Index j = 0; j < n; ++j) {
                const auto a = static_cast<std::uint64_t>(std::min(i, j));
                const auto b = static_cast<std::uint64_t>(std::max(i, j));
                const auto u = static_cast<std::uint64_t>(i);
                const auto v = static_cast<std::uint64_t>(j);
                values.push_back(rule != BorderRule::distances ? 1 + random.uniform({u, v})
                                 : i == j                      ? 0
                                                               : 1 + random.uniform({a, b}));
            }
    }
    [[nodiscard]] double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i * cols + j)]; }
    [[nodiscard]] double weight(Index i) const {
        return weights.empty() ? 1 / static_cast<double>(rows) : weights[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] std::vector<double> analysed() const;
    /// r, of which the first product takes no notice.
    [[nodiscard]] std::vector<double> factors() const;
};

double mean_of_column(const Table& f, Index j, double power = 1) {
    double sum = 0;
    for (Index i = 0; i < f.rows; ++i) sum += f.weight(i) * std::pow(f(i, j), power);
    return sum;
}
double deviation_of_column(const Table& f, Index j) {
    const double mean = mean_of_column(f, j);
    double sum = 0;
    for (Index i = 0; i < f.rows; ++i) sum += f.weight(i) * (f(i, j) - mean) * (f(i, j) - mean);
    const auto n = static_cast<double>(f.rows);
    return std::sqrt(f.weights.empty() ? sum * n / (n - 1) : sum);
}
double sum_of_row(const Table& f, Index i) {
    double sum = 0;
    for (Index j = 0; j < f.cols; ++j) sum += f(i, j);
    return sum;
}
double sum_of_column(const Table& f, Index j) { return mean_of_column(f, j) * static_cast<double>(f.rows); }

std::vector<double> Table::factors() const {
    std::vector<double> r(static_cast<std::size_t>(cols), 1.0);
    for (Index j = 0; j < cols; ++j) {
        double& factor = r[static_cast<std::size_t>(j)];
        if (rule == BorderRule::masses) factor = 1 / std::sqrt(sum_of_column(*this, j));
        if (rule == BorderRule::means_deviations) factor = 1 / deviation_of_column(*this, j);
        if (rule == BorderRule::distances && !weights.empty()) factor = std::sqrt(weight(j));
    }
    return r;
}

/// A, column by column.
std::vector<double> Table::analysed() const {
    const Table& f = *this;
    const std::vector<double> r = factors();
    std::vector<double> A;
    double all = 0;
    for (const double value : values) all += value;
    double mean_square = 0;
    for (Index j = 0; j < cols; ++j)
        if (rule == BorderRule::distances) mean_square += weight(j) * mean_of_column(f, j, 2);
    for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) {
            const double l = weights.empty() ? 1 : std::sqrt(weight(i));
            const double of_j = r[static_cast<std::size_t>(j)];
            switch (rule) {
                case BorderRule::distances:
                    A.push_back(-0.5 * l * of_j *
                                (f(i, j) * f(i, j) - mean_of_column(f, i, 2) - mean_of_column(f, j, 2) + mean_square));
                    break;
                case BorderRule::masses:
                    A.push_back((f(i, j) - sum_of_row(f, i) * sum_of_column(f, j) / all) * of_j /
                                std::sqrt(sum_of_row(f, i)));
                    break;
                default: A.push_back(l * (f(i, j) - mean_of_column(f, j)) * of_j);
            }
        }
    return A;
}

template <class T>
KernelResult run_read_table(const KernelCall& call) noexcept {
    const auto& args = call.args<ReadArguments>();
    const auto& table = *static_cast<const Table*>(args.source);
    const TileSpan<T> panel(call.tiles[0]);
    for (Index i = 0; i < panel.cols(); ++i)
        for (Index j = 0; j < panel.rows(); ++j)
            panel(j, i) = static_cast<T>(table(args.first.i + i, args.first.j + j));
    return {};
}
const PanelKernel<double> read_table{"dread", read_without_file.cost, run_read_table<double>};

/// op(A)·X, A m x n and X of some columns.
std::vector<double> multiplied(const std::vector<double>& A, Index m, Index n, Op op, const std::vector<double>& X) {
    const Index inner = op == Op::none ? n : m;
    const Index outer = op == Op::none ? m : n;
    const Index columns = static_cast<Index>(X.size()) / inner;
    std::vector<double> Y(static_cast<std::size_t>(outer * columns), 0.0);
    for (Index c = 0; c < columns; ++c)
        for (Index i = 0; i < m; ++i)
            for (Index j = 0; j < n; ++j) {
                const Index from = op == Op::none ? j : i;
                const Index to = op == Op::none ? i : j;
                Y[static_cast<std::size_t>(to + c * outer)] +=
                    A[static_cast<std::size_t>(i + j * m)] * X[static_cast<std::size_t>(from + c * inner)];
            }
    return Y;
}

RC_GTEST_PROP(StreamedMatrix, ProductsOfEveryPassAreThoseOfTheWholeMatrix, ()) {
    const auto rule =
        *rc::gen::element(BorderRule::distances, BorderRule::means, BorderRule::means_deviations, BorderRule::masses);
    const bool square = rule == BorderRule::distances;
    const Index m = *rc::gen::inRange<Index>(8, 40);  // fewer could have hardly any variance
    const Index n = square ? m : *rc::gen::inRange<Index>(1, 40);
    const Index tile = *rc::gen::inRange<Index>(1, 12);
    const Stored stored = square && *rc::gen::arbitrary<bool>() ? Stored::lower : Stored::full;
    const auto step = static_cast<StreamingStep>(*rc::gen::inRange(0, 7));
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    Table table(rule, m, n, seed);
    if (rule != BorderRule::masses && *rc::gen::arbitrary<bool>())
        for (Index i = 0; i < m; ++i)
            table.weights.push_back(2 * static_cast<double>(i + 1) / static_cast<double>(m * (m + 1)));
    std::vector<double> shift(static_cast<std::size_t>(n), square || rule == BorderRule::masses ? 0.0 : 1.25);
    InlineEngine engine(*rc::gen::inRange<Index>(1, 5));
    Stream s(engine);
    const Tiling tiling = Tiling::uniform({m, n}, {tile, square ? tile : *rc::gen::inRange<Index>(1, 12)});
    const Distribution owners =
        one_dimensional(tiling.grid(), std::vector<double>(static_cast<std::size_t>(engine.node_count()), 1.0));
    const Index kept = step < StreamingStep::split_gram ? -1 : *rc::gen::inRange<Index>(-1, tiling.grid().rows + 1);
    const StreamedSpec spec{.tiling = tiling,
                            .stored = stored,
                            .read = owners,
                            .compute = owners,
                            .rule = rule,
                            .columns = *rc::gen::inRange<Index>(1, 15),
                            .resident_rows = kept,
                            .passing_rows = *rc::gen::inRange<Index>(1, 3),
                            .weights = table.weights,
                            .degrees_of_freedom = table.weights.empty() ? 1 - 1 / static_cast<double>(m) : 1,
                            .reading = {.kernel = &read_table,
                                        .source = &table,
                                        .panel_tiles = *rc::gen::inRange<Index>(1, 4),
                                        .slots = *rc::gen::inRange<Index>(1, 3),
                                        .shift = shift.data()},
                            .step = step};
    RC_LOG() << m << " x " << n << ", rule " << static_cast<int>(rule) << ", step " << static_cast<int>(step)
             << ", kept " << kept << ", tile " << tile;
    StreamedMatrix streamed(s, spec);
    const Matrix<double> X = streamed.make_right("X");
    const Matrix<double> first = streamed.make_left("first");
    const Matrix<double> Y = streamed.make_left("Y");
    const Matrix<double> Z = streamed.make_right("Z");
    const Scalar<double> squares(s);
    testing::generate_normal(s, X, seed);
    streamed.first_product(X, first, [&] { (void)s.wait(); });
    const MatrixView<double> transposed = Z;
    const MatrixView<double> right = X;
    streamed.pass(
        {.X = &right, .Y = Y, .transposed = stored == Stored::full ? &transposed : nullptr, .squares = &squares});
    RC_ASSERT(s.wait().ok());

    const std::vector<double> A = table.analysed();
    const std::vector<double> x = gather(s, X.view());
    std::vector<double> unscaled = x;
    const std::vector<double> r = table.factors();
    for (std::size_t k = 0; k < x.size(); ++k) unscaled[k] /= r[k % r.size()];
    const std::vector<double> y = multiplied(A, m, n, Op::none, x);
    double sum = 0;
    for (const double a : A) sum += a * a;
    constexpr double rounding = 1e-11;
    RC_ASSERT(largest_difference(gather(s, first.view()), multiplied(A, m, n, Op::none, unscaled)) < rounding);
    RC_ASSERT(largest_difference(gather(s, Y.view()), y) < rounding);
    if (stored == Stored::full)
        RC_ASSERT(largest_difference(gather(s, Z.view()), multiplied(A, m, n, Op::transpose, y)) < rounding);
    RC_ASSERT(std::abs(squares.value(s).get() - sum) < rounding * (1 + sum));
}

}  // namespace
}  // namespace tesela::streamed_matrix_test
