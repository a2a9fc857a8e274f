#pragma once

#include "tesela/flow/engine.hpp"
#include "tesela/geo/model_file.hpp"

#include <functional>
#include <string>

namespace tesela::cli {

/// What commands on Gaussian processes do alike when they run.

/// The node that writes and prints.
[[nodiscard]] bool is_first(const Engine& engine);

/// What a model's matrix is advised is done when it is fitted: who uses a model has no such options.
inline constexpr const char* when_fitting = " to tesela fit, and predict from the new model";

/// Says so on the first node where the factor of the last evaluation leaves few digits, or where compression is too
/// coarse for its matrix.
void warn_if_ill_conditioned(const geo::Likelihood& likelihood, const Engine& engine, const char* where = "");

/// The model of the first file; if it is the second that holds one, says so. `program` is "tesela predict".
[[nodiscard]] geo::FittedModel read_model_first(const std::string& program, const std::string& model,
                                                const std::string& second);

}  // namespace tesela::cli
