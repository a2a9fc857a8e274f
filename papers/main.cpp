// `tesela-papers`: makes the tables and figures of the papers, and compares them with docs/tables.
#include "experiments.hpp"

int main(int argc, char** argv) {
    using namespace tesela::bench;  // NOLINT(google-build-using-namespace): a program, not a header
    ExperimentProgram program{"tesela-papers", "Makes the tables and figures of the papers", {}};
    for (const auto& make : {tables, distributions, ranking, paper000, strategies, phases, figure12, mds_steps, unequal,
                             paper001, paper002, paper004, tlr_ranks, tlr_switches, tlr_distributions, recovery})
        program.experiments.push_back(make());
    return run_experiment(program, argc, argv);
}
