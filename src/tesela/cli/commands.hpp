#pragma once

#include "tesela/cli/command.hpp"

namespace tesela::cli {

/// The commands of `tesela`, each in a file of its name.
[[nodiscard]] Command variogram_command();
[[nodiscard]] Command fit_command();
[[nodiscard]] Command loglik_command();
[[nodiscard]] Command predict_command();
[[nodiscard]] Command validate_command();
[[nodiscard]] Command compare_command();
[[nodiscard]] Command sample_command();
[[nodiscard]] Command mds_command();
[[nodiscard]] Command pca_command();
[[nodiscard]] Command ca_command();
[[nodiscard]] Command sample_distances_command();
[[nodiscard]] Command dist_command();
[[nodiscard]] Command simulate_command();
[[nodiscard]] Command plan_command();
[[nodiscard]] Command trace_command();
[[nodiscard]] Command calibrate_command();
[[nodiscard]] Command info_command();
[[nodiscard]] Command completion_command();

}  // namespace tesela::cli
