#include "tesela/geo/covariance_derivatives.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace tesela::covariance_derivatives_test {
namespace {

constexpr std::array all_families{CovarianceFamily::matern, CovarianceFamily::exponential,
                                  CovarianceFamily::squared_exponential, CovarianceFamily::powered_exponential};

double covariance_at(CovarianceFamily family, const CovarianceParameters& theta, double distance) {
    return Covariance(family, theta, Metric::euclidean, distance)(distance);
}

/// Central differences of fourth order in one parameter, with steps of a thousandth of it.
double difference(CovarianceFamily family, const CovarianceParameters& theta, double CovarianceParameters::*parameter,
                  double distance) {
    const double h = 1e-3 * theta.*parameter;
    const auto at = [&](double steps) {
        CovarianceParameters moved = theta;
        moved.*parameter += steps * h;
        return covariance_at(family, moved, distance);
    };
    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h);
}

TEST(CovarianceDerivatives, EqualDifferencesOfEveryFamilyInEveryParameter) {
    for (const CovarianceFamily family : all_families)
        for (const double smoothness : {0.3, 0.5, 1.0, 1.23, 1.9}) {
            const CovarianceParameters theta{.sigma2 = 2.5, .range = 0.2, .smoothness = smoothness, .nugget = 0.1};
            const Covariance covariance(family, theta, Metric::euclidean, 3);
            const CovarianceDerivatives derivatives(covariance, 3);
            for (double r = 1e-4; r < 5; r *= 1.5) {
                const CovarianceSlopes got = derivatives(r);
                const auto expect = [&](double slope, double CovarianceParameters::*parameter) {
                    // Differences of numbers of the size of sigma2, rounded, over a thousandth of the parameter.
                    EXPECT_NEAR(slope, difference(family, theta, parameter, r), 1e-9 * theta.sigma2 / theta.*parameter)
                        << name(family) << ", smoothness " << smoothness << ", distance " << r;
                };
                expect(got.sigma2, &CovarianceParameters::sigma2);
                expect(got.range, &CovarianceParameters::range);
                if (family == CovarianceFamily::matern || family == CovarianceFamily::powered_exponential)
                    expect(got.smoothness, &CovarianceParameters::smoothness);
                else
                    EXPECT_EQ(got.smoothness, 0);
                EXPECT_EQ(got.nugget, 0);
            }
            const CovarianceSlopes at_zero = derivatives(0);
            EXPECT_EQ(at_zero, (CovarianceSlopes{.sigma2 = 1}));
        }
}

struct Scattered {
    PointSet points;
    Covariance covariance;
    CovarianceDerivatives derivatives;

    Scattered(CovarianceFamily family, Metric metric, std::size_t count)
        : points(make_points(metric, count)),
          covariance(
              family,
              {.sigma2 = 1.7, .range = metric == Metric::euclidean ? 0.3 : 3000, .smoothness = 0.4, .nugget = 0.2},
              metric, points.diameter_bound()),
          derivatives(covariance, points.diameter_bound()) {}

    static PointSet make_points(Metric metric, std::size_t count) {
        std::mt19937_64 generator(count);
        std::uniform_real_distribution<double> unit(0, 1);
        std::vector<std::vector<double>> columns(2, std::vector<double>(count));
        for (auto& column : columns)
            for (double& x : column) x = metric == Metric::euclidean ? unit(generator) : 80 * unit(generator);
        return {metric, columns};
    }
    /// The derivatives of element (i, j) of the covariance matrix.
    [[nodiscard]] CovarianceSlopes at(Index i, Index j) const {
        CovarianceSlopes slopes = derivatives(distance(points, i, points, j));
        slopes.nugget = i == j ? 1 : 0;
        return slopes;
    }
};

std::vector<double> random_numbers(Index count, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> between(-1, 1);
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (double& x : numbers) x = between(generator);
    return numbers;
}

class CovarianceDerivativeTiles : public ::testing::TestWithParam<CovarianceFamily> {
protected:
    const std::array<Scattered, 2> cases_{
        Scattered(GetParam(), Metric::euclidean, 700),
        Scattered(GetParam(),
                  GetParam() == CovarianceFamily::squared_exponential ? Metric::chordal : Metric::great_circle, 700)};
};

/// Tiles on and below the diagonal, taller than a batch and ragged.
struct TileAt {
    ElementIndex first;
    ElementIndex size;
};
constexpr std::array<TileAt, 4> tiles{
    {{{0, 0}, {300, 300}}, {{300, 0}, {270, 19}}, {{600, 600}, {31, 31}}, {{699, 5}, {1, 1}}}};

TEST_P(CovarianceDerivativeTiles, HoldTheDerivativeInADirection) {
    const CovarianceSlopes direction{.sigma2 = 0.7, .range = -2, .smoothness = 1.1, .nugget = 3};
    for (const Scattered& c : cases_)
        for (const auto& [first, size] : tiles) {
            std::vector<double> out(static_cast<std::size_t>(size.i * size.j));
            c.derivatives.fill_tile({.rows = &c.points,
                                     .row_begin = first.i,
                                     .row_count = size.i,
                                     .cols = &c.points,
                                     .col_begin = first.j,
                                     .col_count = size.j,
                                     .out = out.data(),
                                     .ld = size.i,
                                     .sets = ObservationSets::same},
                                    direction);
            for (Index j = 0; j < size.j; ++j)
                for (Index i = 0; i < size.i; ++i) {
                    const CovarianceSlopes d = c.at(first.i + i, first.j + j);
                    const double expected = direction.sigma2 * d.sigma2 + direction.range * d.range +
                                            direction.smoothness * d.smoothness + direction.nugget * d.nugget;
                    ASSERT_NEAR(out[static_cast<std::size_t>(i + j * size.i)], expected,
                                1e-13 * (1 + std::abs(expected)));
                }
        }
}

void expect_near(const CovarianceSlopes& got, const CovarianceSlopes& expected, double tolerance) {
    EXPECT_NEAR(got.sigma2, expected.sigma2, tolerance);
    EXPECT_NEAR(got.range, expected.range, tolerance);
    EXPECT_NEAR(got.smoothness, expected.smoothness, tolerance);
    EXPECT_NEAR(got.nugget, expected.nugget, tolerance);
}

TEST_P(CovarianceDerivativeTiles, TracesAreSumsOverBothTriangles) {
    for (const Scattered& c : cases_)
        for (const auto& [first, size] : tiles) {
            const Index ld = size.i + 3;
            const auto A = random_numbers(ld * size.j, 1);
            constexpr Index vectors = 2;
            const Index ld_u = size.i + 1;
            const Index ld_v = first.i == first.j ? ld_u : size.j + 2;
            const auto U = random_numbers(ld_u * vectors, 2);
            const auto V = first.i == first.j ? U : random_numbers(ld_v * vectors, 3);
            const CovarianceSlopes got = c.derivatives.traces({.points = &c.points,
                                                               .first = first,
                                                               .rows = size.i,
                                                               .cols = size.j,
                                                               .A = A.data(),
                                                               .ld = ld,
                                                               .vectors = vectors,
                                                               .U = U.data(),
                                                               .ld_u = ld_u,
                                                               .V = V.data(),
                                                               .ld_v = ld_v});
            CovarianceSlopes expected;
            for (Index j = 0; j < size.j; ++j)
                for (Index i = 0; i < size.i; ++i) {
                    if (first.i + i < first.j + j) continue;  // the lower triangle is all that is looked at
                    const double twice = first.i + i == first.j + j ? 1 : 2;
                    double weight = A[static_cast<std::size_t>(i + j * ld)];
                    for (Index v = 0; v < vectors; ++v)
                        weight -= U[static_cast<std::size_t>(i + v * ld_u)] * V[static_cast<std::size_t>(j + v * ld_v)];
                    weight *= twice;
                    const CovarianceSlopes d = c.at(first.i + i, first.j + j);
                    expected.sigma2 += weight * d.sigma2;
                    expected.range += weight * d.range;
                    expected.smoothness += weight * d.smoothness;
                    expected.nugget += weight * d.nugget;
                }
            expect_near(got, expected, 1e-9);
        }
}

TEST_P(CovarianceDerivativeTiles, ProductsAreThoseOfTheElements) {
    for (const Scattered& c : cases_)
        for (const auto& [first, size] : tiles) {
            const auto w = random_numbers(size.j, 4);
            const std::vector<double> before = random_numbers(4 * size.i, 5);
            std::vector<double> V = before;
            c.derivatives.add_products({.points = &c.points,
                                        .first = first,
                                        .rows = size.i,
                                        .cols = size.j,
                                        .w = w.data(),
                                        .V = V.data(),
                                        .ld = size.i});
            for (Index i = 0; i < size.i; ++i) {
                std::array<double, 4> expected{};
                for (Index j = 0; j < size.j; ++j) {
                    const CovarianceSlopes d = c.at(first.i + i, first.j + j);
                    const double factor = w[static_cast<std::size_t>(j)];
                    expected[0] += d.sigma2 * factor;
                    expected[1] += d.range * factor;
                    expected[2] += d.smoothness * factor;
                    expected[3] += d.nugget * factor;
                }
                for (Index k = 0; k < 4; ++k) {
                    const auto at = static_cast<std::size_t>(i + k * size.i);
                    ASSERT_NEAR(V[at], before[at] + expected[static_cast<std::size_t>(k)], 1e-11);
                }
            }
        }
}

INSTANTIATE_TEST_SUITE_P(Families, CovarianceDerivativeTiles, ::testing::ValuesIn(all_families),
                         [](const auto& one) { return std::string(name(one.param)); });

}  // namespace
}  // namespace tesela::covariance_derivatives_test
