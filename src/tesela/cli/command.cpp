#include "tesela/cli/command.hpp"

#include "tesela/base/program.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/ordination_options.hpp"
#include "tesela/kernels/vector_level.hpp"

#include <CLI/CLI.hpp>

namespace tesela::cli {
namespace {

/// A matrix that is not positive definite is a numerical failure, all other errors are bad input.
int run_guarded(const char* program, const std::function<int()>& work) {
    return tesela::run_guarded(program, [&] {
        try {
            validate_vector_level_variable();
            return work();
        } catch (const mds::Refusal& refusal) {
            throw Error(in_words(refusal));
        } catch (const geo::NotPositiveDefinite& error) {
            print_error(program, error.what());
            return static_cast<int>(failed);
        } catch (const geo::Refusal& refusal) {
            throw Error("{}", in_words(refusal));
        }
    });
}

/// With the names of those above it.
std::string full_name(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

void add_command(CLI::App& parent, const Command& command, int& exit_code) {
    CLI::App* app = parent.add_subcommand(command.name, command.summary);
    if (!command.prepare) {
        app->require_subcommand(1);
        return add_commands(*app, command.commands, exit_code);
    }
    app->callback([name = full_name(*app), run = command.prepare(*app), &exit_code] {
        exit_code = run_guarded(name.c_str(), run);
    });
}

}  // namespace

void add_commands(CLI::App& app, const std::vector<Command>& commands, int& exit_code) {
    for (const Command& command : commands) add_command(app, command, exit_code);
}

}  // namespace tesela::cli
