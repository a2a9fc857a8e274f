#pragma once

#include "covariance_problem.hpp"

#include "tesela/cli/run_options.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

struct TlrDistributionsOptions {
    cli::RunOptions run;
    /// What is factored by Cholesky; its n is that of the other matrix too.
    CovarianceProblem problem{.n = 4000};
    Index tile = 200;
    std::vector<Operation> operations{Operation::cholesky, Operation::lu};
    /// Families of distributions; none: those that the catalogue has for the nodes.
    std::vector<std::string> families{};
    double alpha = 2;
    /// Of paper 001's generator, for LU.
    SyntheticDensity density{};
    /// Frobenius norm of its tiles off the diagonal. What is subtracted from them is its square: with more than a
    /// thousandth ranks change, where paper 001 takes it that they do not.
    double tile_norm = 1e-4;
    int rounds = 3;
    /// CSV file for the rows, in which those of other numbers of nodes stay; empty: none.
    std::string table{};
};

/// Cholesky of a compressed covariance matrix and LU of a compressed diagonally dominant one (paper 001's generator)
/// under each family of distributions, made for the ranks that a first run measures, and those by weight also for the
/// operations that these ranks leave: seconds, what was sent, and the
/// nodes' loads in operations of low rank, beside paper 001's metrics. Needs several nodes.
[[nodiscard]] nlohmann::ordered_json tlr_distributions_benchmark(StarpuEngine& engine,
                                                                 const TlrDistributionsOptions& options);

}  // namespace tesela::bench
