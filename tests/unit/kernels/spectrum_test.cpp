#include "tesela/kernels/spectrum.hpp"

#include "tesela/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace tesela::spectrum_test {
namespace {

std::vector<double> random_matrix(Index rows, Index cols, std::uint64_t seed) {
    const Random random(seed);
    std::vector<double> values(static_cast<std::size_t>(rows * cols));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = random.normal({.i = k});
    return values;
}

double at(const std::vector<double>& a, Index rows, Index i, Index j) {
    return a[static_cast<std::size_t>(i + j * rows)];
}

// The second difference has eigenvalues 2 - 2·cos(kπ/(n+1)).
TEST(Spectrum, OfTheSecondDifferenceIsItsClosedForm) {
    const Index n = 37;
    std::vector<double> A(static_cast<std::size_t>(n * n));
    for (Index i = 0; i < n; ++i) {
        A[static_cast<std::size_t>(i + i * n)] = 2;
        if (i + 1 < n) A[static_cast<std::size_t>(i + 1 + i * n)] = -1;
    }
    const auto spectrum = symmetric_spectrum(A, n, 3);
    ASSERT_TRUE(spectrum);
    ASSERT_EQ(spectrum->values.size(), 37U);
    ASSERT_EQ(spectrum->vectors.size(), 111U);
    for (Index k = 0; k < n; ++k)
        EXPECT_NEAR(spectrum->values[static_cast<std::size_t>(k)],
                    2 - 2 * std::cos(std::numbers::pi * static_cast<double>(n - k) / static_cast<double>(n + 1)),
                    1e-14);
}

TEST(Spectrum, VectorsOfASymmetricMatrixSatisfyTheirEquation) {
    for (const Index n : {1, 2, 5, 60}) {
        std::vector<double> A = random_matrix(n, n, 3);
        for (Index i = 0; i < n; ++i)
            for (Index j = i + 1; j < n; ++j) A[static_cast<std::size_t>(i + j * n)] = at(A, n, j, i);
        const Index wanted = (n + 1) / 2;
        const auto spectrum = symmetric_spectrum(A, n, wanted);
        ASSERT_TRUE(spectrum);
        for (Index k = 0; k < wanted; ++k)
            for (Index i = 0; i < n; ++i) {
                double sum = 0;
                for (Index j = 0; j < n; ++j) sum += at(A, n, i, j) * at(spectrum->vectors, n, j, k);
                EXPECT_NEAR(sum, spectrum->values[static_cast<std::size_t>(k)] * at(spectrum->vectors, n, i, k), 1e-12);
            }
    }
}

TEST(Spectrum, SingularVectorsMakeTheMatrixAgain) {
    for (const GridSize size : {GridSize{7, 4}, GridSize{4, 7}, GridSize{1, 5}, GridSize{90, 3}}) {
        const std::vector<double> A = random_matrix(size.rows, size.cols, 5);
        const Index order = std::min(size.rows, size.cols);
        const auto svd = singular_spectrum(A, size, order);
        ASSERT_TRUE(svd);
        for (Index i = 0; i < size.rows; ++i)
            for (Index j = 0; j < size.cols; ++j) {
                double sum = 0;
                for (Index k = 0; k < order; ++k)
                    sum += at(svd->left, size.rows, i, k) * svd->values[static_cast<std::size_t>(k)] *
                           at(svd->right, size.cols, j, k);
                EXPECT_NEAR(sum, at(A, size.rows, i, j), 1e-13);
            }
    }
}

TEST(Spectrum, OfWhatIsNotFiniteIsNothing) {
    std::vector<double> A(9, std::numeric_limits<double>::quiet_NaN());
    EXPECT_FALSE(symmetric_spectrum(A, 3, 1));
    EXPECT_FALSE(singular_spectrum(A, {3, 3}, 1));
}

}  // namespace
}  // namespace tesela::spectrum_test
