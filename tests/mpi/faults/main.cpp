// A program in which one node fails in the middle of its work; run.py starts it under mpirun and looks at how all end.

#include "soak/fault_program.hpp"

#include "tesela/kernels/blas_core.hpp"

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
    tesela::restart_with_better_blas();
    CLI::App app{"A workload on several nodes, one of which fails"};
    tesela::bench::FaultOptions options;
    tesela::bench::add_fault_options(app, options);
    CLI11_PARSE(app, argc, argv);
    return tesela::bench::run_fault_program(options);
}
