#include "tesela/kernels/loops.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/geo/covariance_derivatives.hpp"
#include "tesela/geo/internal/power_table.hpp"
#include "tesela/kernels/vector_level.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace tesela::loops_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<double> random_numbers(std::size_t n, double scale, std::uint64_t seed = 1) {
    const Random random(seed);
    std::vector<double> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(scale * random.uniform({.i = i}));
    return out;
}

std::vector<std::uint64_t> bits(const std::vector<double>& numbers) {
    std::vector<std::uint64_t> out;
    for (const double x : numbers) out.push_back(std::bit_cast<std::uint64_t>(x));
    return out;
}

/// What is no ordinary argument, again and again.
std::vector<double> not_ordinary(std::size_t n) {
    constexpr std::array some{0.0, -0.0, 5e-324, 1e-310, 708.3, 708.4, 750.0, 1e300, infinity, not_a_number};
    std::vector<double> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(some[i % some.size()]);
    return out;
}

/// Everything that the loops compute of some numbers, at the level in use.
std::vector<double> all_results(std::size_t n) {
    const loops::Functions& loop = loops::functions();
    const auto x = random_numbers(n, 1, 1), y = random_numbers(n, 1, 2), z = random_numbers(n, 1, 3);
    std::vector<double> all, out(n);
    const auto keep = [&] { all.insert(all.end(), out.begin(), out.end()); };
    const std::array coordinates{x.data(), y.data(), z.data(), y.data(), x.data()};
    constexpr std::array origin{0.1, 0.2, 0.3, 0.4, 0.5};
    for (std::size_t dimensions = 1; dimensions <= coordinates.size(); ++dimensions) {
        loop.distances({dimensions, coordinates.data(), origin.data()}, 1.7, n, out.data());
        keep();
    }
    loop.arcs(1.5, 1.7, n, out.data());
    keep();
    const auto arguments = random_numbers(n, 40, 4);
    loop.exponentials(arguments.data(), n, 1.5, out.data());
    keep();
    loop.add(0.7, x.data(), n, out.data());
    keep();
    all.push_back(loop.dot(x.data(), y.data(), n));
    all.push_back(loop.squares(x.data(), n));
    const auto [first, second] = loop.moments(x.data(), y.data(), n);
    all.push_back(first);
    all.push_back(second);
    const std::vector<float> singles(x.begin(), x.end());
    all.push_back(loop.squares_of_singles(singles.data(), n));
    loop.half_squares(x.data(), n, out.data());
    keep();
    all.push_back(loop.bordered_squares({x.data(), y.data(), z.data(), arguments.data(), 0.3, 0.7}, n));
    loop.combine({0.3, 0.5, 0.7}, {x.data(), y.data(), z.data()}, n, out.data());
    keep();
    std::vector<double> logarithms = z;
    out = arguments;
    loop.decline(1.7, x.data(), n, out.data(), logarithms.data());
    keep();
    all.insert(all.end(), logarithms.begin(), logarithms.end());
    out = not_ordinary(n);
    loop.exponentials(out.data(), n, 1.5, out.data());
    keep();
    return all;
}

/// A tile of covariances and one of derivatives, at the level in use.
std::vector<double> tiles_of(CovarianceFamily family) {
    constexpr Index n = 67;
    const PointSet points(Metric::euclidean, {random_numbers(n, 1, 1), random_numbers(n, 1, 2)});
    const Covariance covariance(family, {.sigma2 = 1.3, .range = 0.05, .smoothness = 1.23}, Metric::euclidean, 2);
    std::vector<double> out(std::size_t{2 * n * n});
    CovarianceTileRequest request{.rows = &points,
                                  .row_count = n,
                                  .cols = &points,
                                  .col_count = n,
                                  .out = out.data(),
                                  .ld = n,
                                  .sets = ObservationSets::same};
    covariance.fill_tile(request);
    request.out += n * n;
    CovarianceDerivatives(covariance, 2).fill_tile(request, {0.3, 0.5, 0.7, 0.9});
    return out;
}

class VectorLevels : public ::testing::Test {
protected:
    void TearDown() override { use_vector_level(before_); }

private:
    VectorLevel before_ = vector_level();
};

TEST_F(VectorLevels, GiveTheSameDigits) {
    for (const std::size_t n : {0U, 1U, 7U, 16U, 31U, 256U}) {
        use_vector_level(VectorLevel::baseline);
        const auto expected = bits(all_results(n));
        for (const VectorLevel level : vector_levels()) {
            use_vector_level(level);
            EXPECT_EQ(bits(all_results(n)), expected) << name_in(vector_level_names, level) << ", " << n;
        }
    }
    for (const auto& [family, text] : covariance_family_names) {
        use_vector_level(VectorLevel::baseline);
        const auto expected = bits(tiles_of(family));
        for (const VectorLevel level : vector_levels()) {
            use_vector_level(level);
            EXPECT_EQ(bits(tiles_of(family)), expected) << text << ", " << name_in(vector_level_names, level);
        }
    }
}

TEST_F(VectorLevels, AreNamedByAVariable) {
    EXPECT_EQ(vector_levels().front(), VectorLevel::baseline);
    const std::string before = environment(vector_level_variable).value_or("");
    setenv(vector_level_variable, "pentium", 1);
    EXPECT_THAT(validate_vector_level_variable,
                ::testing::ThrowsMessage<Error>(::testing::HasSubstr(
                    "\"pentium\" is not a level of vector instructions for TESELA_VECTORS; there")));
    setenv(vector_level_variable, std::string(vector_level_names.front().second).c_str(), 1);
    EXPECT_NO_THROW(validate_vector_level_variable());
    unsetenv(vector_level_variable);
    EXPECT_NO_THROW(validate_vector_level_variable());
    if (!before.empty()) setenv(vector_level_variable, before.c_str(), 1);
}

TEST(Loops, TakeExponentialsAsLibmDoes) {
    std::vector<double> x = random_numbers(5000, 708, 5);
    for (const double small : random_numbers(5000, 2, 6)) x.push_back(small);
    for (const double tiny : {0.0, 1e-300, 1e-17, 0.34657359027997264, 0.34657359027997265, 708.0, 708.396})
        x.push_back(tiny);
    std::vector<double> out(x.size());
    loops::functions().exponentials(x.data(), x.size(), 1, out.data());
    for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(out[i] / std::exp(-x[i]), 1, 2 * std::numeric_limits<double>::epsilon()) << x[i];
    EXPECT_EQ(out[10000], 1);
}

TEST(Loops, TakeExponentialsOfWhatIsNoArgument) {
    const std::array<double, 4> x{708.4, 1e300, infinity, not_a_number};
    std::array<double, 4> out{};
    loops::functions().exponentials(x.data(), x.size(), 3, out.data());
    EXPECT_EQ((std::array{out[0], out[1], out[2]}), (std::array{0.0, 0.0, 0.0}));
    EXPECT_TRUE(std::isnan(out[3]));
}

TEST(Loops, TakeArcsAsLibmDoes) {
    constexpr double diameter = 12742.0176;
    std::vector<double> chords = random_numbers(5000, diameter, 5);
    for (const double near : random_numbers(5000, 1, 6)) chords.push_back(diameter * (1 - near * near * near * 1e-3));
    for (const double small : {0.0, 1e-300, 1e-9, 0.5 * diameter, std::nextafter(0.5 * diameter, diameter), diameter})
        chords.push_back(small);
    std::vector<double> arcs = chords;
    loops::functions().arcs(diameter, 1, arcs.size(), arcs.data());
    for (std::size_t i = 0; i < arcs.size(); ++i) {
        const double expected = diameter * std::asin(std::min(1.0, chords[i] / diameter));
        EXPECT_NEAR(arcs[i], expected, 2 * std::numeric_limits<double>::epsilon() * expected) << chords[i];
    }
}

TEST(Loops, TakeArcsOfWhatIsNoChord) {
    std::array<double, 3> x{2.5, infinity, not_a_number};
    loops::functions().arcs(2, 1, x.size(), x.data());
    EXPECT_EQ(x[0], 2 * std::asin(1.0));
    EXPECT_EQ(x[1], 2 * std::asin(1.0));
    EXPECT_TRUE(std::isnan(x[2]));
}

TEST(PowerTable, HasPowersAndLogarithms) {
    for (const double power : {0.05, 0.7, 1.0, 1.23, 2.0}) {
        const PowerTable table(power, 30, PowerTable::Columns::powers_and_logarithms);
        std::vector<double> x = random_numbers(200, 25, 7);
        for (const double each : {0.0, 1e-200, 1e-12, 1.0, 31.0, 1e6, 1e100}) x.push_back(each);
        std::vector<double> powers(x.size()), logarithms(x.size());
        table.evaluate(x, powers.data(), logarithms.data());
        for (std::size_t i = 0; i < x.size(); ++i) {
            EXPECT_DOUBLE_EQ(powers[i], std::pow(x[i], power)) << x[i] << "^" << power;
            EXPECT_NEAR(logarithms[i], x[i] > 0 ? std::log(x[i]) : 0, 1e-14) << x[i];
        }
    }
}

TEST(PowerTable, IsFiniteWhereArgumentsAreNot) {
    const PowerTable table(1.5, infinity, PowerTable::Columns::powers_and_logarithms);
    const std::array<double, 2> x{infinity, 1e300};
    std::array<double, 2> powers{}, logarithms{};
    table.evaluate(x, powers.data(), logarithms.data());
    EXPECT_EQ(powers[0], 1e300);
    EXPECT_TRUE(std::isfinite(logarithms[0]));
}

TEST(PowerTable, HasPowersOfHugeArgumentsThatAreStillSmall) {
    const PowerTable table(0.05, infinity, PowerTable::Columns::powers_and_logarithms);
    const std::array<double, 4> x{1e18, 1e20, 1e34, 1e50};
    std::array<double, 4> powers{}, logarithms{};
    table.evaluate(x, powers.data(), logarithms.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_DOUBLE_EQ(powers[i], std::pow(x[i], 0.05)) << x[i];
        EXPECT_DOUBLE_EQ(logarithms[i], std::log(x[i])) << x[i];
    }
}

}  // namespace
}  // namespace tesela::loops_test
