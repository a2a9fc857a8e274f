#include "tesela/cli/commands.hpp"

#include "tesela/algs/ranks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/map_options.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/io/hdf5/trace_hdf5.hpp"
#include "tesela/io/otf2/trace_otf2.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/io/trace_export.hpp"
#include "tesela/pictures/rank_map.hpp"
#include "tesela/pictures/trace_picture.hpp"
#include "tesela/sim/trace_durations.hpp"
#include "tesela/sim/traced_ranks.hpp"
#include "tesela/trace/analysis.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tesela::cli {
namespace {

struct TraceArguments {
    std::string path;
    std::string other;
    std::string name;
    std::string format;
    std::string output;
    std::string platform;
    bool json = false;
};

trace::Trace read_with_warnings(const std::string& path) { return read_trace_with_warnings("tesela trace", path); }

void print_summary(const trace::Summary& s) {
    const auto line = [](const char* name, const std::string& value) { fmt::print("{:<16}{}\n", name, value); };
    line("makespan", format_seconds(s.makespan));
    line("tasks",
         s.unfinished == 0 ? fmt::format("{}", s.tasks) : fmt::format("{}, {} unfinished", s.tasks, s.unfinished));
    line("workers", fmt::format("{} on {} node{}", s.workers, s.nodes, plural(s.nodes)));
    line("utilisation",
         fmt::format("{:.1f} %, first 95 % of the run: {:.1f} %", 100 * s.utilisation, 100 * s.utilisation_95));
    line("critical path", fmt::format("{} with these durations", format_seconds(s.critical_path)));
    line("area", fmt::format("{} in this schedule: the workers' time, spread evenly on each node",
                             format_seconds(s.area_of_this_schedule)));
    if (s.bounds && s.makespan > 0)
        line("lower bound", fmt::format("{} = {:.1f} % of the makespan (area {}, critical path {})",
                                        format_seconds(s.bounds->lower()), 100 * s.bounds->lower() / s.makespan,
                                        format_seconds(s.bounds->area), format_seconds(s.bounds->critical_path)));
    if (s.makespan > 0 && s.flops > 0) line("rate", format_flops(s.flops / s.makespan));
    line("sent", fmt::format("{} in {} messages", format_bytes(s.bytes), s.messages));
    line("peak memory", fmt::format("{} on a node", format_bytes(s.peak_memory)));
    std::string idle = fmt::format("{}: no ready task {}, waiting for data {}", format_seconds(s.idle.total()),
                                   format_seconds(s.idle.no_ready_task), format_seconds(s.idle.data));
    if (s.idle.other_kind > 0)
        idle += fmt::format(", tasks for other kinds of workers {}", format_seconds(s.idle.other_kind));
    line("idle", fmt::format("{}, runtime {}", idle, format_seconds(s.idle.runtime)));
}

int summary(const TraceArguments& arguments) {
    trace::Trace trace = read_with_warnings(arguments.path);
    if (!arguments.platform.empty()) add_durations(trace, read_platform(arguments.platform, ""));
    const trace::Summary result = trace::summarise(trace, trace::dependency_graph(trace));
    if (!arguments.json) {
        print_summary(result);
        return success;
    }
    Json json;
    trace::to_json(json, result);
    json["warnings"] = trace.warnings;
    fmt::print("{}\n", json.dump(2));
    return success;
}

int table(const TraceArguments& arguments) {
    const trace::Trace trace = read_with_warnings(arguments.path);
    const trace::Table result = trace::make_table(trace, trace::dependency_graph(trace), arguments.name);
    OutputFile file(arguments.output.empty() ? "-" : arguments.output);
    trace::write_csv(result, [&file](std::string_view text) { file.write(text); });
    file.commit();
    return success;
}

Json to_json(const trace::Table& table) {
    Json rows = Json::array();
    for (std::size_t row = 0; row < table.rows(); ++row) {
        Json line;
        for (const trace::Column& column : table.columns) {
            if (const auto* integers = std::get_if<trace::Integers>(&column.values))
                line[column.name] = (*integers)[row];
            else if (const auto* reals = std::get_if<trace::Reals>(&column.values))
                line[column.name] = (*reals)[row];
            else
                line[column.name] = std::get<trace::Names>(column.values).at(row);
        }
        rows.push_back(line);
    }
    return rows;
}

int diff(const TraceArguments& arguments) {
    const trace::Table changes =
        trace::difference(read_with_warnings(arguments.path), read_with_warnings(arguments.other));
    if (arguments.json) {
        fmt::print("{}\n", to_json(changes).dump(2));
        return success;
    }
    std::vector<std::array<std::string, 6>> lines{{"", "", "a", "b", "change", "ratio"}};
    for (std::size_t row = 0; row < changes.rows(); ++row) {
        const double change = changes.reals("change")[row];
        const double ratio = changes.reals("ratio")[row];
        lines.push_back({std::string(changes.names("group").at(row)), std::string(changes.names("name").at(row)),
                         format_seconds(changes.reals("a")[row]), format_seconds(changes.reals("b")[row]),
                         fmt::format("{}{}", change < 0 ? "-" : "+", format_seconds(std::abs(change))),
                         std::isnan(ratio) ? std::string("-") : fmt::format("{:.3f}", ratio)});
    }
    std::array<std::size_t, 6> width{};
    for (const auto& line : lines)
        for (std::size_t column = 0; column < width.size(); ++column)
            width[column] = std::max(width[column], line[column].size());
    for (const auto& line : lines) {
        fmt::print("{:<{}}  {:<{}}", line[0], width[0], line[1], width[1]);
        for (std::size_t column = 2; column < width.size(); ++column)
            fmt::print("  {:>{}}", line[column], width[column]);
        fmt::print("\n");
    }
    return success;
}

// --- ranks ----------------------------------------------------------------------------------------------------------

struct RanksArguments {
    std::string path;
    std::string matrix;
    std::string output;
    std::string picture;
    std::string title;
    bool json = false;
};

RankMaps maps_of(TracedRanks ranks, const RanksArguments& arguments) {
    const GridSize tiles = ranks.tiling.grid();
    std::string title = arguments.title;
    if (title.empty())
        title =
            fmt::format("Ranks of {}: {} x {} tiles of {}", ranks.matrix, tiles.rows, tiles.cols, ranks.tiling.rows(0));
    return {.title = std::move(title),
            .tiling = std::move(ranks.tiling),
            .stored = ranks.stored,
            .initial = std::move(ranks.initial),
            .last = std::move(ranks.last)};
}

trace::Table table_of(const RankMaps& maps, const std::string& name) {
    const RankMap changes = rank_changes(maps);
    const GridSize grid = changes.grid;
    trace::Names matrix;
    trace::Integers row, col, initial, last, change;
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < grid.cols; ++j) {
            if (!is_stored({i, j}, maps.stored)) continue;
            const auto at = static_cast<std::size_t>(i * grid.cols + j);
            matrix.add(name);
            row.push_back(i);
            col.push_back(j);
            initial.push_back(maps.initial.ranks[at]);
            last.push_back(maps.last.ranks[at]);
            change.push_back(changes.ranks[at]);
        }
    return {"ranks",
            {{"matrix", matrix}, {"i", row}, {"j", col}, {"initial", initial}, {"final", last}, {"change", change}}};
}

Json to_json(const RankSummary& ranks) {
    return {{"mean", ranks.mean},   {"max", ranks.largest},
            {"tiles", ranks.tiles}, {"compressed", ranks.compressed},
            {"bytes", ranks.bytes}, {"dense_bytes", ranks.dense_bytes}};
}

void print_ranks(const char* when, const RankSummary& ranks) {
    fmt::print("{:<14}{:>10.1f}{:>10}{:>16}{:>12}{:>11.1f} %\n", when, ranks.mean, ranks.largest,
               fmt::format("{} of {}", ranks.compressed, ranks.tiles), format_bytes(ranks.bytes),
               100 * ranks.bytes / ranks.dense_bytes);
}

int ranks(const RanksArguments& arguments) {
    if (!arguments.picture.empty() && !is_standard_output(arguments.picture)) require_svg("--svg", arguments.picture);
    TracedRanks traced = ranks_of_matrix(read_with_warnings(arguments.path), arguments.matrix, arguments.path);
    const std::string name = traced.matrix;
    const RankMaps maps = maps_of(std::move(traced), arguments);
    if (!arguments.output.empty()) {
        OutputFile file(arguments.output);
        trace::write_csv(table_of(maps, name), [&file](std::string_view text) { file.write(text); });
        file.commit();
    }
    if (!arguments.picture.empty()) write_file(arguments.picture, draw_rank_maps(maps));
    if (is_standard_output(arguments.output) || is_standard_output(arguments.picture)) return success;
    const GridSize tiles = maps.tiling.grid();
    const RankSummary initial = summarise_ranks(maps.initial, maps.tiling, maps.stored);
    const RankSummary last = summarise_ranks(maps.last, maps.tiling, maps.stored);
    if (arguments.json) {
        fmt::print("{}\n", Json{{"matrix", name},
                                {"tile_rows", tiles.rows},
                                {"tile_cols", tiles.cols},
                                {"tile", maps.tiling.rows(0)},
                                {"initial", to_json(initial)},
                                {"final", to_json(last)}}
                               .dump(2));
        return success;
    }
    fmt::print("{}: {} x {} tiles of {}{}\n", name, tiles.rows, tiles.cols, maps.tiling.rows(0),
               maps.stored == Stored::lower ? ", on and below the diagonal" : "");
    fmt::print("{:<14}{:>10}{:>10}{:>16}{:>12}{:>13}\n", "", "mean rank", "largest", "compressed", "bytes", "of dense");
    print_ranks("as generated", initial);
    print_ranks("as factored", last);
    return success;
}

// --- picture --------------------------------------------------------------------------------------------------------

struct PictureArguments {
    std::vector<std::string> paths;
    std::vector<std::string> titles;
    TracePicture wanted;
    std::string output;
};

int picture(const PictureArguments& arguments) {
    if (!is_standard_output(arguments.output)) require_svg("--output", arguments.output);
    if (!arguments.titles.empty() && arguments.titles.size() != arguments.paths.size())
        throw Error("--titles has {} of them for {} traces", arguments.titles.size(), arguments.paths.size());
    std::vector<TitledTrace> runs;
    for (std::size_t k = 0; k < arguments.paths.size(); ++k) {
        const std::string& path = arguments.paths[k];
        const std::string name = std::filesystem::path(path).filename().string();
        runs.push_back({arguments.titles.empty() ? name : arguments.titles[k], read_with_warnings(path)});
    }
    write_file(arguments.output, draw_runs(picture_of(runs, arguments.wanted)));
    return success;
}

void add_picture_options(CLI::App& draw, PictureArguments& arguments) {
    draw.add_option("traces", arguments.paths, "Trace files (of node 0), a column of the picture each")->required();
    draw.add_option("-o,--output", arguments.output, "SVG file; - is standard output")->required();
    add_choice(draw, "--by", arguments.wanted.by, picture_by_names, "What has a colour each");
    comma_separated(draw.add_option("--steps", arguments.wanted.steps_of,
                                    "Phases (or kernels, with --by kernel) whose steps are drawn too, over time"));
    draw.add_option("--title", arguments.wanted.title, "Over the picture");
    comma_separated(draw.add_option("--titles", arguments.titles, "Over each run (default: names of the files)"));
    add_example(draw, "tesela trace picture before.trace after.trace -o runs.svg");
}

// --- export ---------------------------------------------------------------------------------------------------------

struct Format {
    const char* ending;
    void (*write)(const trace::Trace&, const std::string&);
};

const std::map<std::string, Format>& formats() {
    static const std::map<std::string, Format> all{{"hdf5", {".h5", export_hdf5}},
                                                   {"perfetto", {".json", export_perfetto}},
                                                   {"paje", {".paje", export_paje}},
                                                   {"otf2", {".otf2", export_otf2}},
                                                   {"dot", {".dot", export_dot}}};
    return all;
}

int export_to(const TraceArguments& arguments) {
    const Format& chosen = formats().at(arguments.format);
    const std::string output = arguments.output.empty() ? arguments.path + chosen.ending : arguments.output;
    chosen.write(read_with_warnings(arguments.path), output);
    if (!is_standard_output(output)) fmt::print(stderr, "wrote {}\n", output);
    return success;
}

void add_summary_options(CLI::App& command, TraceArguments& arguments) {
    command.add_option("trace", arguments.path, "Trace file (of node 0)")->required();
    add_json_option(command, arguments.json);
    command.add_option(
        "--platform", arguments.platform,
        "Platform of the run, as tesela calibrate writes it: its durations give a lower bound (the trace of a "
        "simulated run has them)");
}

void add_table_options(CLI::App& command, TraceArguments& arguments) {
    std::string names;
    for (const trace::TableName& known : trace::table_names({}))
        names += fmt::format("\n  {:<14}{}", known.name, known.meaning);
    command.footer("Tables:" + names + "\n  or the name of an application's event");
    command.add_option("name", arguments.name, "Which table")->required();
    command.add_option("trace", arguments.path, "Trace file (of node 0)")->required();
    command.add_option("-o,--output", arguments.output, "File to write (default: standard output)");
}

void add_diff_options(CLI::App& command, TraceArguments& arguments) {
    command.add_option("a", arguments.path, "Trace file")->required();
    command.add_option("b", arguments.other, "Trace file")->required();
    add_json_option(command, arguments.json);
}

void add_ranks_options(CLI::App& command, RanksArguments& arguments) {
    command.add_option("trace", arguments.path, "Trace file (of node 0)")->required();
    command.add_option("--matrix", arguments.matrix, "Which matrix, where several are compressed");
    command.add_option("-o,--output", arguments.output, "CSV file for the ranks of all tiles; -1 is stored whole");
    command.add_option("--svg", arguments.picture, "Picture of three maps: as made, at last, and the difference")
        ->type_name("FILE");
    command.add_option("--title", arguments.title, "Over the picture");
    add_json_option(command, arguments.json);
}

void add_export_options(CLI::App& command, TraceArguments& arguments) {
    command.add_option("trace", arguments.path, "Trace file (of node 0)")->required();
    std::vector<std::string> known_formats;
    for (const auto& format : formats()) known_formats.push_back(format.first);
    allow_only(command.add_option("--format", arguments.format, "Whose format"), known_formats)->required();
    command.add_option("-o,--output", arguments.output,
                       "File to write (default: the trace's name and the format's ending)");
}

}  // namespace

Command trace_command() {
    return {
        .name = "trace",
        .summary = "Show where the time of a traced run went, or convert its trace",
        .commands = {
            command("summary", "Makespan, utilisation, bounds, volumes and idle time", add_summary_options, summary),
            command("table", "One table of a trace as CSV", add_table_options, table),
            command("diff", "What got slower or faster from trace a to trace b", add_diff_options, diff),
            command("ranks", "Ranks of a compressed matrix's tiles, as made and at last", add_ranks_options, ranks),
            command("picture", "Runs beside each other: what workers of each node did when, and the memory in use",
                    add_picture_options, picture),
            command("export", "Convert a trace for other tools", add_export_options, export_to)}};
}

}  // namespace tesela::cli
