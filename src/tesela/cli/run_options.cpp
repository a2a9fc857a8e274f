#include "tesela/cli/run_options.hpp"

#include "tesela/algs/tile_size.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/names.hpp"
#include "tesela/base/near_word.hpp"
#include "tesela/cli/blas_restart.hpp"
#include "tesela/cli/help_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace tesela::cli {
namespace {

constexpr Names<CriticalWorker, 1> critical_worker_names{{{CriticalWorker::shared_core, "shared"}}};

std::vector<EngineKey> keys_of(RunOptions& options) {
    return {
        {.name = "scheduler",
         .value = "NAME",
         .help = "streams (by priority; the default), or one of StarPU's such as lws or dmdas",
         .set = [&](const std::string& value) { options.scheduler = value; }},
        {.name = "critical-worker",
         .value = list_names(critical_worker_names),
         .help = "one core is left to submission, with one more worker on it for critical tasks only",
         .set =
             [&](const std::string& value) {
                 options.critical_worker = parse_name(critical_worker_names, value, "critical-worker");
             }},
        trace_modules_key(options.recorded),
        {.name = "trace-counters",
         .value = "NAMES",
         .help = fmt::format("hardware counters of module papi, at most four (default: {})", options.recorded.counters),
         .set = [&](const std::string& value) { options.recorded.counters = value; }}};
}

/// Of "KEY=VALUE".
void set_key(const std::vector<EngineKey>& keys, const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto key = std::ranges::find(keys, name, &EngineKey::name);
    if (key != keys.end() && equals != std::string::npos) return key->set(text.substr(equals + 1));
    if (key != keys.end()) throw Error("{} takes a value, as {}={}", name, name, key->value);
    std::vector<std::string> known;
    for (const EngineKey& each : keys) known.push_back(each.name);
    throw Error("\"{}\" is not a key; there are {}{}", name, fmt::join(known, ", "), did_you_mean(name, known));
}

}  // namespace

void add_engine_keys(CLI::App& command, const std::vector<EngineKey>& keys) {
    std::string help = "For developers of the engine, several times if need be:";
    for (const EngineKey& key : keys) help += fmt::format("\n{}={}: {}", key.name, key.value, key.help);
    const auto set = [keys](const std::vector<std::string>& texts) {
        try {
            for (const std::string& text : texts) set_key(keys, text);
        } catch (const Error& error) {
            throw CLI::ValidationError("--engine", error.what());
        }
    };
    rarely_used(command.add_option_function<std::vector<std::string>>("--engine", set, help)
                    ->allow_extra_args(false)
                    ->type_name("KEY=VALUE"));
}

EngineKey trace_modules_key(trace::Options& recorded) {
    return {.name = "trace-modules",
            .value = "NAMES",
            .help = "what --trace records: all, or some of tasks,comms,memory,app,papi (default: all, without papi)",
            .set = [&recorded](const std::string& value) { recorded.modules = trace::parse_modules(value); }};
}

void add_workers_option(CLI::App& command, RunOptions& options) {
    command
        .add_option("--workers", options.workers,
                    "Workers per node (0: the usable cores of a machine, divided among the nodes on it)")
        ->capture_default_str();
}

void add_quiet_option(CLI::App& command, bool& quiet) {
    command.add_flag("--quiet", quiet, "Print no notes and no progress, only warnings");
}

void add_engine_options(CLI::App& command, RunOptions& options) {
    fit_blas_before(command);
    add_workers_option(command, options);
    add_quiet_option(command, options.quiet);
    rarely_used(
        command.add_option("--trace", options.trace, "Record the run into this file (see tesela trace --help)"));
    add_engine_keys(command, keys_of(options));
}

void add_tile_option(CLI::App& command, RunOptions& options) {
    command.add_option("--tile", options.tile, "Rows and columns of a tile, or auto")->capture_default_str();
}

void add_tiling_options(CLI::App& command, RunOptions& options) {
    add_tile_option(command, options);
    rarely_used(command
                    .add_option("--dist", options.distribution,
                                "Distribution: a family such as block_cyclic:2x3, 1d1d or sbc (see tesela dist make "
                                "--help), or a JSON file")
                    ->capture_default_str());
}

void add_json_option(CLI::App& command, bool& json) { command.add_flag("--json", json, "Print the results as JSON"); }

std::unique_ptr<StarpuEngine> start_engine(const RunOptions& options) {
    const trace::Options usual;
    if (options.trace.empty() &&
        (options.recorded.modules != usual.modules || options.recorded.counters != usual.counters))
        throw Error("--engine trace-modules and trace-counters say what --trace records: give that too");
    StarpuOptions with = options;
    with.warnings = options.quiet && !options.shows_warnings ? Warnings::print : Warnings::keep;
    auto engine = std::make_unique<StarpuEngine>(with);
    engine->require_alike("--trace", options.trace.empty() ? 0 : 1);
    if (!options.trace.empty()) {
        trace::Options recorded = options.recorded;
        recorded.path = options.trace;
        engine->start_trace(recorded);
    }
    const auto lines = engine->start_lines();
    if (!options.quiet && engine->is_first())
        for (const std::string& line : lines) fmt::print(stderr, "{}\n", line);
    return engine;
}

bool is_automatic_tile(const std::string& text) { return text == "auto"; }

Index parse_tile(const std::string& text) {
    Index size = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, size);
    if (error != std::errc{} || stopped != end || size < 1)
        throw Error("--tile {} is neither a size of at least 1 nor auto", text);
    return size;
}

Index tile_size(const RunOptions& options, Index n, const Engine& engine) {
    return is_automatic_tile(options.tile) ? automatic_tile_size(n, engine.total_workers()) : parse_tile(options.tile);
}

}  // namespace tesela::cli
