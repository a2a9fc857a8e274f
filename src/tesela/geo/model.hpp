#pragma once

#include "tesela/geo/covariance.hpp"
#include "tesela/geo/trend_formula.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tesela::geo {

/// What is maximised: the likelihood of the observations (ml), or that of what is left of them whatever the trend's
/// coefficients are (restricted, reml), whose estimates of variances do not shrink with the number of coefficients.
enum class Estimation : std::uint8_t { ml, reml };
inline constexpr Names<Estimation, 2> estimation_names{{{Estimation::ml, "ml"}, {Estimation::reml, "reml"}}};

/// The parameters of a covariance, by the names they have in options and files.
enum class Parameter : std::uint8_t { sigma2, range, smoothness, nugget };
inline constexpr std::array all_parameters{Parameter::sigma2, Parameter::range, Parameter::smoothness,
                                           Parameter::nugget};

[[nodiscard]] std::string_view name(Parameter parameter);
/// Throws Error that lists the names.
[[nodiscard]] Parameter parse_parameter(std::string_view text);

/// Whether a family has a parameter: only two of them have a smoothness.
[[nodiscard]] bool uses(CovarianceFamily family, Parameter parameter);

[[nodiscard]] double& value_of(CovarianceParameters& theta, Parameter parameter);
[[nodiscard]] double value_of(const CovarianceParameters& theta, Parameter parameter);

/// "sigma2 0.6, range 200, nugget 0.05": the parameters that the family has.
[[nodiscard]] std::string describe(CovarianceFamily family, const CovarianceParameters& theta);

/// What the user wants of one parameter; what is absent is chosen from the data.
struct ParameterChoice {
    std::optional<double> fixed;
    std::optional<double> start;
    std::optional<double> lower;
    std::optional<double> upper;
    [[nodiscard]] bool bounded() const { return lower.has_value() || upper.has_value(); }
};

/// z = trend + Gaussian field + noise: what is to be fitted.
struct Model {
    CovarianceFamily family = CovarianceFamily::matern;
    Metric metric = Metric::euclidean;
    TrendFormula trend{};
    Estimation estimation = Estimation::ml;
    std::array<ParameterChoice, all_parameters.size()> choices{};
    /// A known mean, subtracted from the values first.
    double center = 0;
    /// Added to the diagonal of the covariance matrix, as a fraction of sigma2: not part of the model, but what makes a
    /// matrix that is singular in double precision factorable.
    double jitter = 0;

    [[nodiscard]] const ParameterChoice& choice(Parameter p) const { return choices[static_cast<std::size_t>(p)]; }
    [[nodiscard]] ParameterChoice& choice(Parameter p) { return choices[static_cast<std::size_t>(p)]; }
};

/// Throws Error naming the parameter whose choice makes no sense: not positive, bounds in the wrong order, a start
/// outside, both fixed and bounded, one that the family does not have.
void validate(const Model& model);

/// Whether sigma2 follows from the other parameters in closed form: it and the nugget are free and without bounds of
/// the user, or the nugget is fixed at 0. The nugget is then searched as a multiple of sigma2.
[[nodiscard]] bool profiles_sigma2(const Model& model);

/// A column of numbers or of text beside coordinates and values, for the trend.
struct Covariate {
    std::string name;
    std::variant<std::vector<double>, std::vector<std::string>> values;

    [[nodiscard]] bool is_text() const { return values.index() == 1; }
    [[nodiscard]] std::size_t size() const {
        return std::visit([](const auto& list) { return list.size(); }, values);
    }
    bool operator==(const Covariate&) const = default;
};

/// Places and what the trend needs to know there. Coordinates go by their position, covariates by their names.
struct Sites {
    /// From coordinates alone, where the trend needs no more.
    Sites(std::vector<std::vector<double>> columns,  // NOLINT(google-explicit-constructor)
          std::vector<Covariate> beside = {})
        : coordinates(std::move(columns)),
          covariates(std::move(beside)) {}

    std::vector<std::vector<double>> coordinates;
    std::vector<Covariate> covariates;
    std::string file{};
    std::vector<Index> lines{};  ///< of the file, per place; may be empty

    [[nodiscard]] Index size() const {
        return coordinates.empty() ? 0 : static_cast<Index>(coordinates.front().size());
    }
    /// As Observations::where().
    [[nodiscard]] std::string where(Index place) const;
};

/// Measured values at points. Names and lines of the file are for messages and results.
struct Observations {
    std::vector<std::vector<double>> coordinates;  ///< one column per dimension; degrees for metrics on the Earth
    std::vector<double> values;
    std::vector<std::string> coordinate_names{};
    std::string value_name = "z";
    std::string file{};
    std::vector<Index> lines{};    ///< of the file, per observation; may be empty
    std::vector<Index> numbers{};  ///< as the caller counts the observations, from 0; empty: as they stand
    std::vector<Covariate> covariates{};

    [[nodiscard]] Index size() const { return static_cast<Index>(values.size()); }
    /// Of the values.
    [[nodiscard]] double mean() const;
    /// The places, with the covariates.
    [[nodiscard]] Sites sites() const;
    /// "point 7 (counted from 0)" or "line 9 of data.csv".
    [[nodiscard]] std::string where(Index observation) const;
    /// The name of a coordinate, or "x1", "x2", … where none was given.
    [[nodiscard]] std::string coordinate_name(std::size_t dimension) const;
};

/// Values beyond this size are refused, and values and coordinates whose differences are all smaller than its inverse:
/// their squares, and what is computed with them, must neither overflow nor vanish.
inline constexpr double largest_value = largest_coordinate;

/// Throws Error unless there are at least two observations, all finite and of a size that can be computed with, not all
/// at one point, with as many values as points and more than one value, and covariates of the same length with names of
/// their own.
void validate(const Observations& observations);

}  // namespace tesela::geo
