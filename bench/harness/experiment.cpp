#include "harness/experiment.hpp"

#include "tesela/base/program.hpp"
#include "tesela/base/version.hpp"
#include "tesela/kernels/blas_core.hpp"
#include "tesela/kernels/vector_level.hpp"

#include <fmt/format.h>

namespace tesela::bench {

int run_experiment(const ExperimentProgram& program, int argc, char** argv) {
    restart_with_better_blas();
    CLI::App app{program.description, program.name};
    app.set_version_flag("--version", std::string("tesela ") + tesela::version);
    app.require_subcommand(1);
    bool json = false;
    std::function<Report()> chosen;
    std::string name = program.name;
    for (const Experiment& experiment : program.experiments) {
        CLI::App* command = app.add_subcommand(experiment.name, experiment.description);
        command->add_flag("--json", json, "Print the results as JSON");
        auto run = experiment.prepare(*command);
        command->callback([&name, &chosen, command, run = std::move(run)] {
            name += " " + command->get_name();
            chosen = run;
        });
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
        print_error(program.name.c_str(), fmt::format("{} (see --help)", error.what()));
        return bad_input;
    }
    return run_guarded(name.c_str(), [&] {
        validate_vector_level_variable();
        const Report report = chosen();
        if (is_first_node()) fmt::print("{}", json ? as_json(report).dump(2) + "\n" : as_text(report));
        return report.met() ? success : failed;
    });
}

}  // namespace tesela::bench
