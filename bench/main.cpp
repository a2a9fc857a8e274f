// `tesela-bench`, run by `tesela bench …`: measures Tesela beside what it is compared with, in one interleaved run.
#include "experiments.hpp"

int main(int argc, char** argv) {
    using namespace tesela::bench;  // NOLINT(google-build-using-namespace): a program, not a header
    ExperimentProgram program{"tesela bench", "Measures Tesela beside what it is compared with, in one interleaved run",
                              factorisations()};
    for (const auto& make : {overhead, share, matern, readers, mds, eigenvalues, geo, fits, redistribute, trace, tlr,
                             tlr_tile, prediction, simulate})
        program.experiments.push_back(make());
    return run_experiment(program, argc, argv);
}
