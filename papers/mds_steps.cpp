#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/engine_options.hpp"
#include "harness/part_table.hpp"
#include "harness/timing.hpp"
#include "shared/own_distances.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/io/hdf5/open_matrix.hpp"
#include "tesela/mds/decomposition.hpp"

#include <fmt/format.h>

#include <array>

namespace tesela::bench {
namespace {

constexpr int readers_at_a_time = 5;  // paper 000, section 2.2
constexpr std::size_t step_count = streaming_step_names.size();

struct MdsStepsOptions {
    Index n = 10000;
    std::vector<Index> columns{20, 110};
    double rate = 400e6;
    Index repetitions = 5;
    std::string folder = ".";
    std::string table;
    EngineOptions engine{.resource_workers = readers_at_a_time};
};

void add_mds_steps_options(CLI::App& command, MdsStepsOptions& options) {
    command.add_option("--n", options.n, "Points")->capture_default_str();
    comma_separated(command.add_option("--columns", options.columns, "Widths of the random matrix"));
    command.add_option("--rate", options.rate, "Bytes per second of the slow disk")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--folder", options.folder, "Where the file is made, and removed again")->capture_default_str();
    command.add_option("--table", options.table, "CSV file for the rows; those of other numbers of nodes stay");
    add_engine_options(command, options.engine);
}

/// One way to read, with one width of the random matrix.
struct StreamedCase {
    std::string way;
    const MatrixFile& matrix;
    Index columns = 0;
    std::array<Best, step_count> best{};
};

/// Until the matrix has been read and multiplied by so many random columns.
double first_product(Engine& engine, const StreamedCase& of, StreamingStep step) {
    if (of.way == "cold") of.matrix.forget_cached();
    engine.barrier();
    Stream stream(engine, {.name = "mds", .sums = Sums::in_order});
    return mds::decompose(stream, of.matrix, mds::Analysis::scaling,
                          {.dimensions = of.columns,
                           .oversampling = 0,
                           .algorithm = mds::Algorithm::krylov,
                           .tolerance = {},
                           .iterations = 1,
                           .readers = readers_at_a_time,
                           .symmetry = mds::Symmetry::unchecked,
                           .overlap = step})
        .first_seconds;
}

std::vector<Row> step_rows(const Engine& engine, Index n, const std::vector<StreamedCase>& cases) {
    std::vector<Row> rows;
    for (const StreamedCase& of : cases)
        for (std::size_t k = 0; k < step_count; ++k)
            rows.push_back({{"nodes", engine.node_count()},
                            {"workers", engine.total_workers()},
                            {"n", n},
                            {"columns", of.columns},
                            {"file", of.way},
                            {"step", streaming_step_names[k].second},
                            {"seconds", of.best[k].seconds()},
                            {"gain", 1 - of.best[k].seconds() / of.best[0].seconds()}});
    return rows;
}

/// Figure 9 of paper 000, measured: until the file of float32 has been read and multiplied once, under each step of
/// overlap, each with those before it, from a file that the system had forgotten and from a slow disk. Steps take
/// turns.
Report measure_mds_steps(const MdsStepsOptions& options) {
    if (options.n < 200) throw Error("--n must be at least 200; it is {}", options.n);
    const auto engine = start_engine(options.engine);
    const OwnDistances own(*engine, options.folder, options.n);
    const auto matrix = open_matrix(own.path());
    const auto slow = limit_rate(open_matrix(own.path()), options.rate);
    std::vector<StreamedCase> cases;
    for (const Index columns : options.columns) {
        cases.push_back({.way = "cold", .matrix = *matrix, .columns = columns});
        cases.push_back({.way = "limited", .matrix = *slow, .columns = columns});
    }
    ProgressLine progress(options.engine.quiet ? ProgressLine::Wanted::no : ProgressLine::Wanted::yes);
    for (Index r = 0; r < options.repetitions; ++r)
        for (StreamedCase& of : cases)
            for (std::size_t k = 0; k < step_count; ++k) {
                progress.show([&] {
                    return fmt::format("round {}: {}, {} columns, {}", r + 1, of.way, of.columns,
                                       streaming_step_names[k].second);
                });
                // What takes longest on any node counts.
                of.best[k].add(engine->max(first_product(*engine, of, streaming_step_names[k].first)));
            }
    progress.clear();
    Report report{.rows = step_rows(*engine, options.n, cases)};
    if (!options.table.empty() && engine->is_first()) PartTable(options.table, "nodes", report.rows).write();
    for (const StreamedCase& of : cases)
        report.checks.push_back(at_most(fmt::format("{}, {} columns: all steps over sync", of.way, of.columns),
                                        of.best.back().seconds() / of.best.front().seconds(), 1));
    return report;
}

}  // namespace

Experiment mds_steps() {
    return experiment(
        "mds-steps",
        "What each step of paper 000 gains in multidimensional scaling, until the file has been read and multiplied "
        "once (figure 9 of paper 000), from a forgotten file and from a slow disk; also under mpirun",
        add_mds_steps_options, measure_mds_steps);
}

}  // namespace tesela::bench
