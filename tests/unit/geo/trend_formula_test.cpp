#include "tesela/geo/trend_formula.hpp"

#include "tesela/base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace tesela::geo::trend_formula_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names_of(const std::string& text) {
    const TrendFormula formula = TrendFormula::parse(text);
    std::vector<std::string> names;
    for (const TrendFormula::Term& term : formula.terms()) {
        std::string name = term.empty() ? "1" : "";
        for (const std::size_t v : term) name += (name.empty() ? "" : ":") + formula.variables()[v].name;
        names.push_back(name);
    }
    return names;
}

std::string message(const std::string& text) {
    try {
        (void)TrendFormula::parse(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(TrendFormula, NamesOfTrendsAreTrends) {
    EXPECT_EQ(TrendFormula::parse("none"), TrendFormula(Trend::none));
    EXPECT_EQ(TrendFormula::parse(" constant "), TrendFormula(Trend::constant));
    EXPECT_EQ(TrendFormula::parse("linear").kind(), Trend::linear);
    EXPECT_EQ(TrendFormula::parse("~ x").kind(), Trend::formula);
    EXPECT_THAT(names_of("none"), ElementsAre());
    EXPECT_THAT(names_of("constant"), ElementsAre("1"));
}

TEST(TrendFormula, TermsAreThoseOfR) {
    EXPECT_THAT(names_of("~ elev + dist"), ElementsAre("1", "elev", "dist"));
    EXPECT_THAT(names_of("~elev+dist-1"), ElementsAre("elev", "dist"));
    EXPECT_THAT(names_of("~ 0 + elev"), ElementsAre("elev"));
    EXPECT_THAT(names_of("~ elev + 0 + 1"), ElementsAre("1", "elev"));
    EXPECT_THAT(names_of("~ -1 + elev - 0"), ElementsAre("1", "elev"));
    EXPECT_THAT(names_of("~ 0"), ElementsAre());
    EXPECT_THAT(names_of("~ a:b + c"), ElementsAre("1", "c", "a:b"));
    EXPECT_THAT(names_of("~ a*b"), ElementsAre("1", "a", "b", "a:b"));
    EXPECT_THAT(names_of("~ a*b*c"), ElementsAre("1", "a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"));
    EXPECT_THAT(names_of("~ (a + b)*c - a"), ElementsAre("1", "b", "c", "a:c", "b:c"));
    EXPECT_THAT(names_of("~ (a + b):(a + c)"), ElementsAre("1", "a", "a:c", "a:b", "b:c"));
    EXPECT_THAT(names_of("~ a + a + b:a + a:b"), ElementsAre("1", "a", "a:b"));
    EXPECT_THAT(names_of("~ a*b:c"), ElementsAre("1", "a", "b:c", "a:b:c"));
}

TEST(TrendFormula, VariablesAreWrittenAsRWritesThem) {
    EXPECT_THAT(names_of("~ sqrt( dist )+log10(elev)"), ElementsAre("1", "sqrt(dist)", "log10(elev)"));
    EXPECT_THAT(names_of("~ dist^2 + I( dist ^ 2 )"), ElementsAre("1", "I(dist^2)"));
    EXPECT_THAT(names_of("~ log(dist)^2"), ElementsAre("1", "I(log(dist)^2)"));
    EXPECT_THAT(names_of("~ I((x-180000)/1000*2)"), ElementsAre("1", "I((x - 180000)/1000 * 2)"));
    EXPECT_THAT(names_of("~ log(dist+1)"), ElementsAre("1", "log(dist + 1)"));
    EXPECT_THAT(names_of("~ exp(-dist)"), ElementsAre("1", "exp(-dist)"));
    EXPECT_THAT(names_of("~ factor( soil ):`soil type`"), ElementsAre("1", "factor(soil):`soil type`"));
    EXPECT_THAT(names_of("~ `dist` + `log`"), ElementsAre("1", "dist", "log"));
    EXPECT_THAT(names_of("~ dist.m + höhe"), ElementsAre("1", "dist.m", "höhe"));
}

TEST(TrendFormula, ArithmeticHasThePrecedenceOfR) {
    const auto value = [](const std::string& text, std::vector<double> of) {
        return TrendFormula::parse("~ I(" + text + ")").variables().at(0).value(of);
    };
    EXPECT_EQ(value("a + b * c", {2, 3, 4}), 14);
    EXPECT_EQ(value("(a + b) * c", {2, 3, 4}), 20);
    EXPECT_EQ(value("a - b - c", {2, 3, 4}), -5);
    EXPECT_EQ(value("a / b / c", {24, 3, 4}), 2);
    EXPECT_EQ(value("-a^2", {3}), -9);
    EXPECT_EQ(value("2^a^b", {3, 2}), 512);
    EXPECT_EQ(value("a^-1", {4}), 0.25);
    EXPECT_EQ(value("2 * -a", {4}), -8);
    EXPECT_EQ(value("a * a + b", {3, 1}), 10);
    EXPECT_DOUBLE_EQ(value("log(a) + log10(b) + sqrt(c) + exp(d)", {2, 100, 16, 1}), std::log(2) + 2 + 4 + std::exp(1));
    EXPECT_FALSE(std::isfinite(value("log(a)", {0})));
}

TEST(TrendFormula, KnowsItsColumnsAndTheResponse) {
    const TrendFormula formula = TrendFormula::parse("log_zinc ~ sqrt(dist) + factor(soil):I(elev/x) + dist");
    EXPECT_THAT(formula.columns(), ElementsAre("dist", "soil", "elev", "x"));
    EXPECT_EQ(formula.response(), "log_zinc");
    EXPECT_TRUE(formula.is_declared_factor("soil"));
    EXPECT_FALSE(formula.is_declared_factor("dist"));
    EXPECT_NO_THROW(require_response(formula, "log_zinc"));
    EXPECT_NO_THROW(require_response(TrendFormula::parse("~ dist"), "zinc"));
    EXPECT_THROW(require_response(formula, "zinc"), Error);
    EXPECT_EQ(TrendFormula::parse("`log zinc` ~ dist").response(), "log zinc");
}

TEST(TrendFormula, ErrorsPointAtThePlace) {
    const std::vector<std::array<std::string, 2>> cases{
        {"cubic", "\"cubic\" is not a trend; there are none, constant, linear, and formulas, as '~ elev + dist'"},
        {"", "is not a trend"},
        {"~", "a column or a function is missing at its end"},
        {"~ dist +", "a column or a function is missing at its end"},
        {"~ dist + + elev", "\"+\" is not expected at character 10"},
        {"~ dist elev", "\"e\" is not expected at character 8"},
        {"~ sqrt(dist", "a ) is missing for the ( of character 7 at its end"},
        {"~ sqrt dist", "\"d\" is not expected at character 8"},
        {"~ (dist + elev", "a ) is missing for the ( of character 3 at its end"},
        {"~ dist)", "\")\" is not expected at character 7"},
        {"~ sin(dist)", "there is no function sin (there are log, log10, sqrt, exp, I and factor) at character 3"},
        {"~ höhe + sin(x)", "at character 10"},
        {"~ 2*dist", "a number other than 0 and 1 stands inside I(), as I(2 * dist); at character 3"},
        {"~ dist*2", "a number stands inside I(), as I(2 * dist); at character 8"},
        {"~ 1:dist", "\":\" is not expected at character 4"},
        {"~ dist/elev", "\"/\" has no meaning between terms; there are +, -, : and *, and I() for arithmetic"},
        {"~ (dist + elev)^2", "a power of several terms has no meaning"},
        {"~ .", "the dot stands for no columns here"},
        {"~ `dist", "the backtick has no second one at character 3"},
        {"~ ``", "there is no name between the backticks at character 3"},
        {"~ factor(log(soil))", "a ) is missing for the ( of character 9 at character 13"},
        {"~ factor(2)", "factor() takes the name of a column, at character 10"},
        {"~ I(dist +)", "\")\" is not expected at character 11"},
        {"~ log(dist, 2)", "a ) is missing for the ( of character 6 at character 11"},
        {"log(zinc) ~ dist", "the left side is transformed, which it cannot be here"},
        {"zinc + lead ~ dist", "\"+\" is not expected at character 6"},
        {"~ a ~ b", "\"~\" is not expected at character 5"},
        {"~ I(1e999 * a)", "\"1\" is not expected at character 5"},
        {"~ a*b*c*d*e*f*g*h*i*j*k", "more than 1000 terms"},
        {"~ " + std::string(200, '(') + "a", "it is more than 50 levels deep"},
        {"~ I(" + std::string(200, '-') + "a)", "it is more than 50 levels deep"}};
    for (const auto& [text, expected] : cases) EXPECT_THAT(message(text), HasSubstr(expected)) << text;
}

}  // namespace
}  // namespace tesela::geo::trend_formula_test
