#pragma once

#include "tesela/geo/fit.hpp"
#include "tesela/geo/information_criteria.hpp"
#include "tesela/geo/uncertainty.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <string>

namespace tesela::geo {

/// A fitted model with everything that prediction needs and how it came about.
struct FittedModel {
    Model model;
    Observations observations;
    FitResult result;
    /// How sure it is of the parameters, where that was asked for; written, not read.
    std::optional<Uncertainty> uncertainty{};
    std::array<std::optional<ProfileInterval>, all_parameters.size()> profiles{};
    std::optional<MatrixStorage> storage{};  ///< of the matrix that it was fitted with; part of the configuration
    /// Name and version of the program that made it, and its options with defaults filled in.
    std::string program;
    nlohmann::ordered_json configuration = nlohmann::ordered_json::object();
};

[[nodiscard]] InformationCriteria criteria_of(const FittedModel& fitted);

/// The parameters that the family has, by name.
[[nodiscard]] nlohmann::ordered_json theta_json(CovarianceFamily family, const CovarianceParameters& theta);
/// {"kind", "formula" where it is one, "coefficients": {name: value, …}, "standard_errors": {…}}
[[nodiscard]] nlohmann::ordered_json trend_json(const TrendFormula& trend, const TrendEstimate& estimate);

/// {"format": "tesela-model", "version": 1, …}; docs/geo.md lists the fields.
[[nodiscard]] nlohmann::ordered_json to_json(const FittedModel& fitted);
/// Throws Error naming the field that is missing or wrong.
[[nodiscard]] FittedModel model_from_json(const nlohmann::json& json);

/// The same from a file; errors name it too.
[[nodiscard]] FittedModel read_model(const std::string& path);
/// Whether a file says that it is a model, whatever else may be wrong with it. False for standard input, which can be
/// read once only, and for what cannot be read.
[[nodiscard]] bool is_model_file(const std::string& path);
/// read_model() for text already in memory; `file` is its name in error messages.
[[nodiscard]] FittedModel parse_model(const std::string& text, const std::string& file);

}  // namespace tesela::geo
