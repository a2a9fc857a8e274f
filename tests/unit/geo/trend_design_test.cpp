#include "tesela/geo/trend_design.hpp"

#include "tesela/base/error.hpp"
#include "tesela/geo/trend.hpp"
#include "unit/geo/meuse_covariates.hpp"
#include "unit/geo/trend_reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tesela::geo::trend_design_test {
namespace {

using tesela::testing::meuse_covariates;
using Columns = std::vector<std::vector<double>>;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Action>
std::string message(Action action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(TrendDesign, MatricesEqualThoseOfR) {
    const Observations data = meuse_covariates({.landuse = true});
    ASSERT_EQ(data.size(), 154);
    const std::array<Index, 3> shown{0, 70, 153};
    for (const auto& expected : tesela::testing::reference_matrices()) {
        SCOPED_TRACE(expected.formula);
        const TrendDesign design(TrendFormula::parse(expected.formula), data);
        EXPECT_EQ(design.names(), expected.names);
        const SmallMatrix X = design.matrix(data.sites());
        ASSERT_EQ(X.cols, static_cast<Index>(expected.sums.size()));
        for (Index k = 0; k < X.cols; ++k) {
            const auto c = static_cast<std::size_t>(k);
            for (std::size_t r = 0; r < shown.size(); ++r)
                EXPECT_NEAR(X(shown[r], k), expected.rows[r][c], 1e-13 * std::abs(expected.rows[r][c]))
                    << r << " " << k;
            const auto* column = X.values.data() + k * X.rows;
            EXPECT_NEAR(std::accumulate(column, column + X.rows, 0.0), expected.sums[c],
                        1e-12 * (1 + std::abs(expected.sums[c])))
                << k;
        }
    }
}

TEST(TrendDesign, LinearIsInTheCoordinatesByTheirNames) {
    Observations data = meuse_covariates();
    data.coordinate_names = {"east, m", "y"};
    EXPECT_THAT(TrendDesign(Trend::linear, data).names(), ElementsAre("intercept", "east, m", "y"));
    EXPECT_THAT(TrendDesign(TrendFormula::parse("~ `east, m`"), data).names(), ElementsAre("intercept", "`east, m`"));
}

/// Six places with a text and two numbers.
Observations small() {
    return {.coordinates = {{0, 1, 2, 3, 4, 5}},
            .values = {1, 2, 4, 3, 5, 6},
            .coordinate_names = {"t"},
            .covariates = {{.name = "kind", .values = std::vector<std::string>{"b", "B", "a", "b", "a", "b"}},
                           {.name = "class", .values = std::vector<double>{10, 9, 10, 9, 1.5, 1.5}},
                           {.name = "h", .values = std::vector<double>{1, 0, 4, 9, 2, 5}}}};
}

TEST(TrendDesign, LevelsAreInTheOrderOfTheCLocaleAndOfNumbers) {
    const Observations data = small();
    const TrendDesign design(TrendFormula::parse("~ kind + factor(class)"), data);
    EXPECT_THAT(design.names(), ElementsAre("intercept", "kinda", "kindb", "factor(class)9", "factor(class)10"));
    ASSERT_EQ(design.levels().size(), 2U);
    EXPECT_THAT(design.levels()[0].labels, ElementsAre("B", "a", "b"));
    EXPECT_THAT(design.levels()[1].labels, ElementsAre("1.5", "9", "10"));
}

TEST(TrendDesign, SaysWhatItCannotUse) {
    const auto of = [](const std::string& formula, const Observations& data) {
        return message([&] { (void)TrendDesign(TrendFormula::parse(formula), data); });
    };
    EXPECT_THAT(of("~ elev", small()),
                HasSubstr("the column elev, which is not there; the columns are t, kind, class, h"));
    EXPECT_THAT(of("~ log(kind)", small()), HasSubstr("log(kind) cannot be computed: the column kind is text"));
    EXPECT_THAT(of("~ z", small()), HasSubstr("uses z, whose values it is to explain"));
    EXPECT_THAT(of("y ~ h", small()), HasSubstr("is of y, but the values are those of z"));
    Observations one = small();
    one.covariates[0].values = std::vector<std::string>(6, "a");
    EXPECT_THAT(of("~ kind", one), HasSubstr("the factor kind has one level, a, in all observations"));
    one.covariates[0].name = "intercept";
    one.covariates[0].values = std::vector<double>{1, 2, 3, 4, 5, 7};
    EXPECT_THAT(of("~ intercept", one), HasSubstr("two coefficients of the trend ~ intercept are called intercept"));
}

TEST(TrendDesign, SaysWhereAPlaceHasNoValue) {
    const Observations data = small();
    const auto at = [&](const std::string& formula, const Sites& sites) {
        return message([&] { (void)TrendDesign(TrendFormula::parse(formula), data).matrix(sites); });
    };
    EXPECT_EQ(at("~ log(h)", data.sites()), "log(h) cannot be computed at point 1 (counted from 0): h is 0");
    EXPECT_THAT(at("~ h", Sites(Columns{{0, 1}})), HasSubstr("needs the column h at every place"));
    EXPECT_THAT(at("~ kind", Sites(Columns{{0, 1}})), HasSubstr("needs the column kind at every place"));
    Sites other(Columns{{0, 1}}, {{.name = "kind", .values = std::vector<std::string>{"a", "c"}},
                                  {.name = "class", .values = std::vector<double>{9, 11}}});
    other.file = "places.csv";
    other.lines = {2, 5};
    EXPECT_EQ(at("~ kind", other),
              "line 5 of places.csv, column kind: no observation has the level c of kind; they have B, a, b");
    EXPECT_EQ(
        at("~ factor(class)", other),
        "line 5 of places.csv, column class: no observation has the level 11 of factor(class); they have 1.5, 9, 10");
    other.covariates[0].values = std::vector<double>{1, 2};
    EXPECT_THAT(at("~ kind", other), HasSubstr("the column kind of places.csv holds numbers"));
}

TEST(TrendBasis, IsOrthogonalWhateverTheUnits) {
    // Squares of coordinates far from 0 are nearly linear: their columns alone have a condition number of 1e13.
    const Observations data = meuse_covariates();
    const TrendBasis basis(TrendFormula::parse("~ x + y + x^2 + x:y + y^2 + factor(soil)"), data);
    const SmallMatrix& Q = basis.at_observations();
    ASSERT_EQ(Q.cols, 8);
    for (Index a = 0; a < Q.cols; ++a)
        for (Index b = 0; b < Q.cols; ++b) {
            double product = 0;
            for (Index i = 0; i < Q.rows; ++i) product += Q(i, a) * Q(i, b) / 155;
            EXPECT_NEAR(product, a == b ? 1 : 0, 1e-12) << a << b;
        }
    const SmallMatrix again = basis.at(data.sites());
    for (std::size_t k = 0; k < Q.values.size(); ++k) EXPECT_NEAR(again.values[k], Q.values[k], 1e-6);
}

TEST(TrendBasis, OriginalCoefficientsGiveTheSameMean) {
    const Observations data = meuse_covariates();
    for (const char* text : {"~ elev*dist + factor(soil)", "~ 0 + elev + dist:factor(soil)", "~ x + y"}) {
        const TrendFormula formula = TrendFormula::parse(text);
        const TrendBasis basis(formula, data);
        const SmallMatrix T = basis.to_original();
        const SmallMatrix X = TrendDesign(formula, data).matrix(data.sites());
        for (Index k = 0; k < basis.size(); ++k)
            for (const Index i : {0, 33, 154}) {
                double sum = 0;
                for (Index l = 0; l < basis.size(); ++l) sum += X(i, l) * T(l, k);
                EXPECT_NEAR(sum, basis.at_observations()(i, k), 1e-9) << text << i << k;
            }
    }
}

TEST(TrendBasis, NamesTheColumnThatFollowsFromOthers) {
    Observations data = small();
    const auto of = [&](const std::string& formula) {
        return message([&] { (void)TrendBasis(TrendFormula::parse(formula), data); });
    };
    EXPECT_EQ(of("~ h + I(2 * h - t) + t"),
              "the trend ~ h + I(2 * h - t) + t: t follows from the intercept, h, I(2 * h - t); leave one of them out");
    EXPECT_THAT(of("~ h + I(3)"), HasSubstr("I(3) is the same everywhere, as the intercept; leave it out"));
    EXPECT_THAT(of("~ 0 + h + I(-h)"), HasSubstr("I(-h) follows from h; leave one"));
    EXPECT_THAT(of("~ kind + factor(class) + t"),
                HasSubstr("has 6 coefficients, which 6 observations do not determine"));
    EXPECT_EQ(of("~ kind + h"), "");
    data.covariates[0].values = std::vector<std::string>{"a", "a", "b", "b", "a", "b"};
    data.covariates[2].values = std::vector<double>{1, 2, 1, 1, 2, 1};
    EXPECT_THAT(
        of(fmt::format("~ kind * factor({})", data.covariates[2].name)),
        HasSubstr("2 is 0 at every observation, as no observation has that combination; leave the interaction"));
}

TEST(TrendBasis, APartLeavesOutColumnsThatItDoesNotDetermine) {
    Observations data = small();
    data.covariates[0].values = std::vector<std::string>{"a", "a", "b", "b", "a", "b"};
    data.covariates[2].values = std::vector<double>(6, 3);
    const TrendBasis basis(TrendFormula::parse("~ h + kind + t"), data, DependentColumns::leave_out);
    EXPECT_THAT(basis.names(), ElementsAre("intercept", "kindb", "t"));
    EXPECT_EQ(basis.at_observations().cols, 3);
    EXPECT_EQ(basis.to_original().rows, 3);
}

}  // namespace
}  // namespace tesela::geo::trend_design_test
