#include "tesela/cli/commands.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/base/units.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/io/hdf5/write_matrix.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/mds/sample_distances.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tesela::cli {
namespace {

constexpr Names<StoredType, 2> written_types{{{StoredType::float32, "float32"}, {StoredType::float64, "float64"}}};

struct SampleDistancesCommand {
    mds::PointSample sample;
    std::string output;
    std::string points;
    StoredType type = StoredType::float64;
    std::string chunk;
    bool compress = false;
    Index threads = 0;
    bool json = false;
    bool quiet = false;
};

/// "500x20000", none if a text is not of this kind.
std::optional<GridSize> parse_chunk(const std::string& text) {
    const std::size_t cross = text.find('x');
    if (cross == std::string::npos) return {};
    const auto rows = number_in<Index>(text.substr(0, cross));
    const auto cols = number_in<Index>(text.substr(cross + 1));
    if (!rows || !cols || *rows < 1 || *cols < 1) return {};
    return GridSize{*rows, *cols};
}

/// What is compressed is in chunks, of about a megabyte where nothing else is said.
GridSize chunk_of(const SampleDistancesCommand& options) {
    constexpr GridSize compressed_chunk{256, 1024};
    if (options.chunk.empty()) return options.compress ? compressed_chunk : GridSize{};
    return options.chunk == "contiguous" ? GridSize{} : parse_chunk(options.chunk).value();
}

/// Columns of the points are called as in the equations: x1, x2, …
MatrixPlan plan_of_points(const mds::PointSample& sample) {
    MatrixPlan plan{.rows = sample.points, .cols = sample.dimensions, .dataset = "/points"};
    for (Index k = 1; k <= sample.dimensions; ++k) plan.col_labels.push_back(fmt::format("x{}", k));
    return plan;
}

MatrixPlan plan_of_distances(const SampleDistancesCommand& options) {
    return {.rows = options.sample.points,
            .cols = options.sample.points,
            .type = options.type,
            .dataset = "/distance",
            .chunk = chunk_of(options),
            .compression = options.compress ? MatrixCompression::deflate : MatrixCompression::none};
}

void write_all(const SampleDistancesCommand& options) {
    const auto distances = write_matrix(options.output, plan_of_distances(options));
    const auto points = options.points.empty() ? nullptr : write_matrix(options.points, plan_of_points(options.sample));
    ProgressLine line(options.quiet ? ProgressLine::Wanted::no : ProgressLine::Wanted::yes);
    mds::write_distances(options.sample, *distances, {.threads = options.threads, .on_rows = [&](Index done) {
                                                          line.show_bar(done, options.sample.points, "distances");
                                                      }});
    if (points) {
        mds::write_points(options.sample, *points);
        points->commit();
    }
    distances->commit();
}

void print_written(const SampleDistancesCommand& options, double seconds) {
    const Index n = options.sample.points;
    const auto bytes = static_cast<double>(n * n * stored_type_bytes(options.type));
    if (options.json) {
        const Json result{{"n", n},
                          {"dim", options.sample.dimensions},
                          {"decay", options.sample.decay},
                          {"seed", options.sample.seed},
                          {"type", name_in(written_types, options.type)},
                          {"output", options.output},
                          {"bytes", bytes},
                          {"seconds", seconds}};
        fmt::print("{}\n", result.dump(2));
        return;
    }
    fmt::print("{}: distances between {} points in {} dimensions, {} of {}\n", options.output, n,
               options.sample.dimensions, format_bytes(bytes), name_in(written_types, options.type));
}

int run_sample_distances(const SampleDistancesCommand& options) {
    // Every node of mpirun would do the same: one does it.
    if (const auto rank = rank_by_launcher(); rank && *rank != "0") return success;
    const ProgressLine clock(ProgressLine::Wanted::no);
    write_all(options);
    if (!is_standard_output(options.output) && !is_standard_output(options.points))
        print_written(options, clock.seconds());
    return success;
}

void add_points_options(CLI::App& command, SampleDistancesCommand& options) {
    at_least(command.add_option("--n", options.sample.points, "Points"), Index{1})->required();
    at_least(command.add_option("--dim", options.sample.dimensions, "Dimensions of the space that they are in"),
             Index{1})
        ->capture_default_str();
    at_least(
        command.add_option("--decay", options.sample.decay, "Coordinate j is normal with standard deviation j^-DECAY"),
        0.0)
        ->capture_default_str();
    at_least(command.add_option("--seed", options.sample.seed, "Of the points"), std::uint64_t{0})
        ->capture_default_str();
    set_heading(command, "Points");
}

void add_file_options(CLI::App& command, SampleDistancesCommand& options) {
    command
        .add_option("-o,--output", options.output,
                    "File to write: D.h5 or D.h5:/NAME (HDF5, data set /distance), D.npy, or CSV; - is standard output")
        ->required();
    add_choice(command, "--type", options.type, written_types, "Elements, of HDF5 and NumPy files");
    command
        .add_option("--chunk", options.chunk,
                    "HDF5: the size of chunks (default: contiguous; of compressed ones 256x1024)")
        ->type_name("ROWSxCOLS|contiguous")
        ->check(CLI::Validator(
            [](const std::string& text) {
                const bool known = text == "contiguous" || parse_chunk(text);
                return known ? std::string() : fmt::format("{} is not a size of chunks, as 500x20000", text);
            },
            ""));
    command.add_flag("--compress", options.compress, "HDF5: compress the chunks (shuffle, deflate)");
    command.add_option("--points", options.points, "Write the points too, a row each: CSV, .npy or .h5");
    set_heading(command, "Output");
}

void add_sample_distances_options(CLI::App& command, SampleDistancesCommand& options) {
    add_points_options(command, options);
    add_file_options(command, options);
    at_least(command.add_option("--workers", options.threads, "Threads (0: one per usable core)"), Index{0})
        ->capture_default_str();
    set_heading(command, "Machine");
    add_quiet_option(command, options.quiet);
    add_json_option(command, options.json);
    command.footer(
        "Distances are symmetric, zero on the diagonal, and the same whatever the threads. The file appears when it "
        "is\n"
        "whole.");
    add_example(command, "tesela sample-distances --n 20000 --type float32 --chunk 500x20000 -o D.h5");
}

}  // namespace

Command sample_distances_command() {
    return command("sample-distances", "Distances between random points, to try multidimensional scaling on",
                   add_sample_distances_options, run_sample_distances);
}

}  // namespace tesela::cli
