// What takes too long for other tests: memory that grows slowly, and fits to thousands of points.

#include "soak/experiments.hpp"

int main(int argc, char** argv) {
    using namespace tesela::bench;  // NOLINT(google-build-using-namespace): a program, not a header
    return run_experiment({.name = "soak_program",
                           .description = "Runs that are too long for other tests",
                           .experiments = {soak(), compressed_fit()}},
                          argc, argv);
}
