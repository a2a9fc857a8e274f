#include "tesela/geo/trend_design.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::geo {
namespace {

using Kind = TrendVariable::Kind;
using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;

std::ptrdiff_t position(const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? -1 : found - names.begin();
}

const Covariate* covariate(const std::vector<Covariate>& covariates, const std::string& name) {
    const auto found =
        std::find_if(covariates.begin(), covariates.end(), [&](const Covariate& c) { return c.name == name; });
    return found == covariates.end() ? nullptr : &*found;
}

template <class T>
std::vector<T> sorted_once(std::vector<T> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

FactorLevels levels_in(const std::string& variable, const Numbers& numbers) {
    FactorLevels levels{.variable = variable, .labels = {}, .numbers = sorted_once(numbers)};
    for (const double number : levels.numbers) levels.labels.push_back(fmt::format("{}", number));
    return levels;
}

FactorLevels levels_in(const std::string& variable, const Texts& texts) {
    return {.variable = variable, .labels = sorted_once(texts)};
}

/// The first few of many.
std::string listed(const std::vector<std::string>& labels) {
    constexpr std::size_t most = 20;
    std::vector<std::string> shown(labels.begin(),
                                   labels.begin() + static_cast<std::ptrdiff_t>(std::min(most, labels.size())));
    return fmt::format("{}{}", fmt::join(shown, ", "), labels.size() > most ? ", …" : "");
}

TrendFormula resolved(const TrendFormula& formula, const std::vector<std::string>& coordinate_names) {
    return formula.kind() == Trend::linear ? TrendFormula::linear_in(coordinate_names) : formula;
}

std::vector<std::string> names_of_coordinates(const Observations& observations) {
    std::vector<std::string> names;
    for (std::size_t d = 0; d < observations.coordinates.size(); ++d) names.push_back(observations.coordinate_name(d));
    return names;
}

void require_known(const std::string& column, const TrendFormula& formula, const std::vector<std::string>& coordinates,
                   const Observations& observations) {
    if (column == observations.value_name)
        throw Error("the trend {} uses {}, whose values it is to explain", formula.text(), column);
    if (position(coordinates, column) >= 0 || covariate(observations.covariates, column) != nullptr) return;
    std::vector<std::string> known = coordinates;
    for (const Covariate& c : observations.covariates) known.push_back(c.name);
    throw Error("the trend {} uses the column {}, which is not there; the columns are {}", formula.text(), column,
                fmt::join(known, ", "));
}

}  // namespace

TrendDesign::TrendDesign(const TrendFormula& formula, const Observations& observations)
    : formula_(resolved(formula, names_of_coordinates(observations))),
      coordinate_names_(names_of_coordinates(observations)) {
    require_response(formula_, observations.value_name);
    for (const std::string& column : formula_.columns())
        if (formula_.kind() == Trend::formula) require_known(column, formula_, coordinate_names_, observations);
    read_levels(observations);
    for (std::size_t term = 0; term < formula_.terms().size(); ++term) add_columns(term);
    require_different_names();
}

bool TrendDesign::is_factor(const TrendVariable& variable, const Observations& observations) const {
    const auto is_text = [&](const std::string& column) {
        const Covariate* c = covariate(observations.covariates, column);
        return position(coordinate_names_, column) < 0 && c != nullptr && c->is_text();
    };
    if (variable.kind != Kind::expression) return variable.kind == Kind::factor || is_text(variable.columns.front());
    for (const std::string& column : variable.columns)
        if (is_text(column)) throw Error("{} cannot be computed: the column {} is text", variable.name, column);
    return false;
}

void TrendDesign::read_levels(const Observations& observations) {
    for (const TrendVariable& variable : formula_.variables()) {
        levels_of_.push_back(-1);
        if (!is_factor(variable, observations)) continue;
        const std::string& column = variable.columns.front();
        const Covariate* c = covariate(observations.covariates, column);
        const auto dimension = position(coordinate_names_, column);
        FactorLevels levels =
            dimension >= 0
                ? levels_in(variable.name, observations.coordinates[static_cast<std::size_t>(dimension)])
                : std::visit([&](const auto& values) { return levels_in(variable.name, values); }, c->values);
        if (levels.labels.size() < 2)
            throw Error("the factor {} has one level, {}, in all observations: leave it out of the trend",
                        variable.name, listed(levels.labels));
        levels_of_.back() = static_cast<std::ptrdiff_t>(levels_.size());
        levels_.push_back(std::move(levels));
    }
}

const FactorLevels* TrendDesign::levels_of(std::size_t variable) const {
    const auto k = levels_of_[variable];
    return k < 0 ? nullptr : &levels_[static_cast<std::size_t>(k)];
}

/// Whether a factor is coded by contrasts in a term, or by an indicator of every level, as R decides (Chambers and
/// Hastie, Statistical Models in S, page 38; TermCode and modelmatrix in its model.c): by contrasts if the term without
/// it is the intercept or part of a term before; but without an intercept the first factor of all has every level.
bool TrendDesign::has_contrasts(std::size_t term, std::size_t variable) const {
    const auto& terms = formula_.terms();
    if (!formula_.has_intercept())
        for (std::size_t t = 0; t <= term; ++t) {
            const auto first =
                std::find_if(terms[t].begin(), terms[t].end(), [&](std::size_t v) { return levels_of(v) != nullptr; });
            if (first == terms[t].end()) continue;
            if (t == term && *first == variable) return false;
            break;
        }
    TrendFormula::Term rest = terms[term];
    std::erase(rest, variable);
    return rest.empty() ||
           std::any_of(terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(term), [&](const auto& before) {
               return std::includes(before.begin(), before.end(), rest.begin(), rest.end());
           });
}

/// The products of one column of every variable of the term; the first variable's change fastest.
void TrendDesign::add_columns(std::size_t term) {
    constexpr std::size_t most_columns = 10000;
    std::vector<Column> columns{{}};
    std::vector<std::string> names{""};
    for (const std::size_t v : formula_.terms()[term]) {
        std::vector<std::pair<Factor, std::string>> choices;
        const std::string& name = formula_.variables()[v].name;
        const FactorLevels* levels = levels_of(v);
        if (levels == nullptr) choices.push_back({{.variable = v}, name});
        for (std::size_t l = 0; levels != nullptr && l < levels->labels.size(); ++l)
            if (l > 0 || !has_contrasts(term, v))
                choices.push_back({{.variable = v, .level = static_cast<std::ptrdiff_t>(l)}, name + levels->labels[l]});
        if (columns.size() * choices.size() > most_columns)
            throw Error("the trend {} has more than {} coefficients", formula_.text(), most_columns);
        std::vector<Column> next;
        std::vector<std::string> next_names;
        for (const auto& [factor, text] : choices)
            for (std::size_t c = 0; c < columns.size(); ++c) {
                next.push_back(columns[c]);
                next.back().push_back(factor);
                next_names.push_back(names[c].empty() ? text : names[c] + ":" + text);
            }
        columns = std::move(next);
        names = std::move(next_names);
    }
    if (formula_.terms()[term].empty()) names = {"intercept"};
    columns_.insert(columns_.end(), columns.begin(), columns.end());
    names_.insert(names_.end(), names.begin(), names.end());
}

/// Results are given by name.
void TrendDesign::require_different_names() const {
    for (auto name = names_.begin(); name != names_.end(); ++name)
        if (std::find(name + 1, names_.end(), *name) != names_.end())
            throw Error("two coefficients of the trend {} are called {}; rename a column", formula_.text(), *name);
}

const std::vector<double>& TrendDesign::numeric_column(const std::string& name, const Sites& sites) const {
    if (const auto d = position(coordinate_names_, name); d >= 0) return sites.coordinates[static_cast<std::size_t>(d)];
    const Covariate* c = covariate(sites.covariates, name);
    if (c == nullptr) throw Error("the trend {} needs the column {} at every place", formula_.text(), name);
    if (c->is_text())
        throw Error("the column {}{} is text; in the observations it holds numbers", name,
                    sites.file.empty() ? "" : " of " + sites.file);
    return std::get<Numbers>(c->values);
}

std::vector<double> TrendDesign::numbers(std::size_t variable, const Sites& sites) const {
    const TrendVariable& v = formula_.variables()[variable];
    std::vector<const std::vector<double>*> columns;
    for (const std::string& name : v.columns) columns.push_back(&numeric_column(name, sites));
    std::vector<double> row(columns.size());
    std::vector<double> result(static_cast<std::size_t>(sites.size()));
    for (std::size_t i = 0; i < result.size(); ++i) {
        for (std::size_t c = 0; c < row.size(); ++c) row[c] = (*columns[c])[i];
        result[i] = v.value(row);
        if (std::abs(result[i]) <= largest_value) continue;
        std::string from;
        for (std::size_t c = 0; c < row.size(); ++c)
            from += fmt::format("{}{} is {}", c == 0 ? "" : ", ", v.columns[c], row[c]);
        throw Error("{} cannot be computed at {}: {}", v.name, sites.where(static_cast<Index>(i)), from);
    }
    return result;
}

/// Positions of levels.
std::vector<double> TrendDesign::codes(std::size_t variable, const Sites& sites) const {
    const TrendVariable& v = formula_.variables()[variable];
    const FactorLevels& levels = *levels_of(variable);
    const auto coded = [&](const auto& values, const auto& known) {
        std::vector<double> result;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto found = std::lower_bound(known.begin(), known.end(), values[i]);
            if (found == known.end() || *found != values[i])
                throw Error("{}, column {}: no observation has the level {} of {}; they have {}",
                            sites.where(static_cast<Index>(i)), v.columns.front(), values[i], v.name,
                            listed(levels.labels));
            result.push_back(static_cast<double>(found - known.begin()));
        }
        return result;
    };
    if (!levels.numbers.empty()) return coded(numeric_column(v.columns.front(), sites), levels.numbers);
    const Covariate* c = covariate(sites.covariates, v.columns.front());
    if (c == nullptr)
        throw Error("the trend {} needs the column {} at every place", formula_.text(), v.columns.front());
    if (!c->is_text())
        throw Error("the column {}{} holds numbers; in the observations it is text", c->name,
                    sites.file.empty() ? "" : " of " + sites.file);
    return coded(std::get<Texts>(c->values), levels.labels);
}

SmallMatrix TrendDesign::matrix(const Sites& sites) const {
    if (sites.coordinates.size() != coordinate_names_.size())
        throw Error("the places have {} coordinates and the observations {}", sites.coordinates.size(),
                    coordinate_names_.size());
    std::vector<std::vector<double>> of_variables(formula_.variables().size());
    SmallMatrix X(sites.size(), size());
    for (Index k = 0; k < size(); ++k) {
        double* column = X.values.data() + k * X.rows;
        std::fill(column, column + X.rows, 1.0);
        for (const auto& [variable, level] : columns_[static_cast<std::size_t>(k)]) {
            auto& values = of_variables[variable];
            if (values.empty()) values = level < 0 ? numbers(variable, sites) : codes(variable, sites);
            for (Index i = 0; i < X.rows; ++i) {
                const double value = values[static_cast<std::size_t>(i)];
                column[i] *= level < 0 ? value : value == static_cast<double>(level) ? 1.0 : 0.0;
            }
        }
        for (Index i = 0; i < X.rows; ++i)
            if (!(std::abs(column[i]) <= largest_value))
                throw Error("{} is too large to compute with at {}; use another unit",
                            names_[static_cast<std::size_t>(k)], sites.where(i));
    }
    return X;
}

std::vector<std::string> covariate_names(const TrendFormula& formula,
                                         const std::vector<std::string>& coordinate_names) {
    std::vector<std::string> names = formula.columns();
    std::erase_if(names, [&](const std::string& name) { return position(coordinate_names, name) >= 0; });
    return names;
}

}  // namespace tesela::geo
