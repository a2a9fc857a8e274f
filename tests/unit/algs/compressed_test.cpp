#include "support/compressed.hpp"
#include "support/cases.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tesela::compressed_test {
namespace {

using testing::CompressedCase;
using testing::CovarianceOfPoints;
using testing::Decay;

CompressedCase any_case() {
    return {.n = *rc::gen::inRange<Index>(1, 250),
            .tile = *rc::gen::inRange<Index>(5, 70),
            .dimensions = *rc::gen::inRange<Index>(1, 4),
            .decay = *rc::gen::element(Decay::exponential, Decay::matern_three_halves, Decay::squared_exponential),
            .accuracy = *rc::gen::element(1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 0.0),
            .dense_band = *rc::gen::inRange<Index>(1, 4),
            .precision = *rc::gen::element(FactorPrecision::full, FactorPrecision::as_needed),
            .seed = *rc::gen::inRange<std::uint64_t>(1, 1000),
            .factor = {.diagonal_tile = *rc::gen::inRange<Index>(0, 30)}};
}

RC_GTEST_PROP(CompressedCholesky, IsTheFactorOfTheMatrixToTheAccuracy, ()) {
    const CompressedCase c = any_case();
    RC_LOG() << c.name();
    InlineEngine engine(*rc::gen::inRange<Index>(1, 5));
    RC_ASSERT(testing::run_compressed_cholesky(engine, c).worst() <= 1);
}

TEST(CompressedCholesky, SolvesAndGivesTheLogDeterminant) {
    const CompressedCase c{.n = 300, .tile = 37, .accuracy = 1e-9};
    const CovarianceOfPoints covariance(c);
    InlineEngine engine;
    const auto solve = [&](const MatrixOptions& options) {
        Stream s(engine);
        Matrix<double> A(s, Tiling::square(c.n, c.tile), squarest_block_cyclic(Tiling::square(c.n, c.tile).grid(), 1),
                         options);
        Vector<double> x(s, A);
        Scalar<double> sum(s);
        generate(s, A.view(), covariance);
        generate(s, x.view(), [](Index i, Index) { return std::sin(static_cast<double>(i)); });
        cholesky(s, A);
        solve_cholesky(s, A.view(), x.view());
        log_determinant(s, A.view(), sum.view());
        EXPECT_TRUE(s.wait().ok());
        std::vector<double> result = gather(s, x.view());
        result.push_back(gather(s, sum.view()).front());
        return result;
    };
    const auto dense = solve({.stored = Stored::lower});
    const auto compressed = solve(testing::compressed_options(c, "A", Stored::lower));
    for (std::size_t i = 0; i < dense.size(); ++i)
        EXPECT_NEAR(compressed[i], dense[i], 1e-4 * std::max(1.0, std::abs(dense[i])));
}

/// Bytes of the factor, and what it differs from the matrix over what it may.
std::pair<double, double> bytes_and_error(CompressedCase c, FactorPrecision precision) {
    c.precision = precision;
    const CovarianceOfPoints covariance(c);
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(c.n, c.tile);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1),
                     testing::compressed_options(c, "A", Stored::lower));
    generate(s, A.view(), covariance);
    cholesky(s, A);
    EXPECT_TRUE(s.wait().ok());
    const double bytes = summarise_ranks(tile_ranks(s, A), tiling, Stored::lower).bytes;
    return {bytes, testing::factor_error(c, covariance.dense(), gather(s, A.lower()))};
}

TEST(CompressedCholesky, TakesLessMemoryWhereSinglePrecisionDoes) {
    for (const double accuracy : {1e-3, 1e-6}) {
        const CompressedCase c{.n = 600, .tile = 100, .accuracy = accuracy};
        const auto [full, exact_error] = bytes_and_error(c, FactorPrecision::full);
        const auto [mixed, error] = bytes_and_error(c, FactorPrecision::as_needed);
        EXPECT_LT(mixed, 0.97 * full) << accuracy;  // the dense diagonal counts too
        EXPECT_LE(error, 1);
    }
}

/// Diagonally dominant, and smooth away from the diagonal.
double dominant(Index i, Index j) {
    const auto apart = static_cast<double>(std::abs(i - j));
    return i == j ? 50 : (i < j ? 1 : -0.5) / (1 + apart);
}

TEST(CompressedLu, AndProductsAreThoseOfTheMatrix) {
    constexpr Index n = 210;
    constexpr double accuracy = 1e-8;
    const Tiling tiling = Tiling::square(n, 32);
    InlineEngine engine;
    Stream s(engine);
    const auto owners = squarest_block_cyclic(tiling.grid(), 1);
    const MatrixOptions options{.compression = Compression{.accuracy = accuracy, .dense_band = 2}};
    Matrix<double> A(s, tiling, owners, options);
    Matrix<double> B(s, tiling, owners, options);
    Matrix<double> C(s, tiling, owners, options);
    generate(s, A.view(), dominant);
    generate(s, B.view(), dominant);
    gemm(s, A.view(), B.transposed(), C.view(), {.alpha = 1, .beta = 0});
    lu(s, A);
    ASSERT_TRUE(s.wait().ok());
    const auto factors = gather(s, A.view());
    const auto product = gather(s, C.view());
    double worst_factor = 0;
    double worst_product = 0;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            double lu_sum = 0;
            for (Index k = 0; k <= std::min(i, j); ++k)
                lu_sum += (k == i ? 1 : factors[static_cast<std::size_t>(i + k * n)]) *
                          factors[static_cast<std::size_t>(k + j * n)];
            double sum = 0;
            for (Index k = 0; k < n; ++k) sum += dominant(i, k) * dominant(j, k);
            worst_factor = std::max(worst_factor, std::abs(lu_sum - dominant(i, j)));
            worst_product = std::max(worst_product, std::abs(sum - product[static_cast<std::size_t>(i + j * n)]));
        }
    EXPECT_LT(worst_factor, 100 * accuracy);
    EXPECT_LT(worst_product, 1000 * accuracy);  // each element is a sum over tiles of about 50 times their error
}

TEST(CompressedMatrices, OfFloatsAreFactoredToTheirRounding) {
    const testing::CompressedCase c{.n = 230, .tile = 40, .accuracy = 1e-3};
    const testing::CovarianceOfPoints covariance(c);
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(c.n, c.tile);
    // There is nothing narrower to round columns to.
    for (const auto precision : {FactorPrecision::full, FactorPrecision::as_needed}) {
        const Matrix<float> A(
            s, tiling, squarest_block_cyclic(tiling.grid(), 1),
            {.stored = Stored::lower, .compression = Compression{.accuracy = c.accuracy, .precision = precision}});
        generate(s, A.view(), covariance);
        cholesky(s, A);
        ASSERT_TRUE(s.wait().ok());
        const std::vector<float> narrow = gather(s, A.lower());
        EXPECT_LE(testing::factor_error(c, covariance.dense(), {narrow.begin(), narrow.end()}), 1);
    }
}

TEST(CompressedMatrices, RefuseKernelsThatNeedAllElements) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(20, 5);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1),
                     {.compression = Compression{.accuracy = 1e-3}});
    fill(s, A.view(), {.off_diagonal = 0, .diagonal = 1});
    Scalar<double> sum(s);
    try {
        dot(s, A.view(), A.view(), sum.view());
        ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("may be stored as U*V'"));
    }
}

TEST(CompressedMatrices, CannotLieInMemoryOfTheCaller) {
    InlineEngine engine;
    Stream s(engine);
    std::vector<double> memory(100);
    const Tiling tiling = Tiling::square(10, 5);
    EXPECT_THROW(Matrix<double>(s, tiling, squarest_block_cyclic(tiling.grid(), 1),
                                over_array(memory.data(), 10, tiling, {.compression = Compression{.accuracy = 1e-3}})),
                 Error);
    EXPECT_THROW(Matrix<double>(s, tiling, squarest_block_cyclic(tiling.grid(), 1),
                                {.compression = Compression{.accuracy = -1}}),
                 Error);
}

}  // namespace
}  // namespace tesela::compressed_test
