#pragma once

#include "tesela/base/names.hpp"
#include "tesela/kernels/covariance.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tesela::geo {

/// The mean of the field: zero, one unknown constant, or an unknown linear function of the coordinates as given.
enum class Trend : std::uint8_t { none, constant, linear };
inline constexpr Names<Trend, 3> trend_names{
    {{Trend::none, "none"}, {Trend::constant, "constant"}, {Trend::linear, "linear"}}};

/// The parameters of a covariance, by the names they have in options and files.
enum class Parameter : std::uint8_t { sigma2, range, smoothness, nugget };
inline constexpr std::array all_parameters{Parameter::sigma2, Parameter::range, Parameter::smoothness,
                                           Parameter::nugget};

[[nodiscard]] std::string_view name(Trend trend);
[[nodiscard]] std::string_view name(Parameter parameter);
/// Throw Error that lists the names.
[[nodiscard]] Trend parse_trend(std::string_view text);
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
    Trend trend = Trend::constant;
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

/// Measured values at points. Names and lines of the file are for messages and results.
struct Observations {
    std::vector<std::vector<double>> coordinates;  ///< one column per dimension; degrees for metrics on the Earth
    std::vector<double> values;
    std::vector<std::string> coordinate_names{};
    std::string value_name = "z";
    std::string file{};
    std::vector<Index> lines{};  ///< of the file, per observation; may be empty

    [[nodiscard]] Index size() const { return static_cast<Index>(values.size()); }
    /// "point 7 (counted from 0)" or "line 9 of data.csv".
    [[nodiscard]] std::string where(Index observation) const;
    /// The name of a coordinate, or "x1", "x2", … where none was given.
    [[nodiscard]] std::string coordinate_name(std::size_t dimension) const;
};

/// Values beyond this size are refused, and values and coordinates whose differences are all smaller than its inverse:
/// their squares, and what is computed with them, must neither overflow nor vanish.
inline constexpr double largest_value = largest_coordinate;

/// Throws Error unless there are at least two observations, all finite and of a size that can be computed with, not all
/// at one point, with as many values as points and more than one value.
void validate(const Observations& observations);

}  // namespace tesela::geo
