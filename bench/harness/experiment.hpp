#pragma once

#include "harness/report.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tesela::bench {

/// What can be run by name: a command of tesela-bench or tesela-papers.
struct Experiment {
    std::string name;
    std::string description;
    /// Adds its options; what is returned runs it once they have been read.
    std::function<std::function<Report()>(CLI::App&)> prepare;
};

/// An experiment of a function that adds options and one that runs with them, on every node.
template <class Options>
[[nodiscard]] Experiment experiment(std::string name, std::string description, void (*add)(CLI::App&, Options&),
                                    Report (*run)(const Options&)) {
    return {std::move(name), std::move(description), [add, run](CLI::App& command) {
                const auto options = std::make_shared<Options>();
                add(command, *options);
                return std::function<Report()>([options, run] { return run(*options); });
            }};
}

/// A program of experiments.
struct ExperimentProgram {
    std::string name;
    std::string description;
    std::vector<Experiment> experiments;
};

/// Runs the experiment that the command line names and prints its report, as JSON with --json, on the first node.
/// Returns what main() is to return: 0, 1 where a bar is missed, 2 where the command line or what it asks for is wrong.
[[nodiscard]] int run_experiment(const ExperimentProgram& program, int argc, char** argv);

}  // namespace tesela::bench
