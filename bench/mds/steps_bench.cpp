#include "mds/steps_bench.hpp"

#include "checks.hpp"
#include "mds/own_distances.hpp"
#include "part_table.hpp"
#include "timing.hpp"

#include "tesela/apps/mds/decomposition.hpp"
#include "tesela/cli/progress_line.hpp"
#include "tesela/io/hdf5/open_matrix.hpp"

#include <fmt/format.h>

#include <array>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t steps = streaming_step_names.size();

/// One way to read, with one width of the random matrix.
struct Case {
    std::string way;
    const MatrixFile& matrix;
    Index columns = 0;
    std::array<Best, steps> best{};
};

/// Until the matrix has been read and multiplied by so many random columns.
double first_product(Engine& engine, const Case& of, const StepsOptions& options, StreamingStep step) {
    if (of.way == "cold") of.matrix.forget_cached();
    engine.barrier();
    return mds::decompose_randomly(engine, of.matrix, mds::Analysis::scaling,
                                   {.dimensions = of.columns,
                                    .oversampling = 0,
                                    .tolerance = {},
                                    .iterations = 1,
                                    .tile = options.tile,
                                    .readers = options.readers,
                                    .symmetry = mds::Symmetry::unchecked,
                                    .overlap = step})
        .first_seconds;
}

std::vector<Row> rows_of(const Engine& engine, const StepsOptions& options, const std::vector<Case>& cases) {
    std::vector<Row> rows;
    for (const Case& of : cases)
        for (std::size_t k = 0; k < steps; ++k)
            rows.push_back({{"nodes", engine.node_count()},
                            {"workers", engine.total_workers()},
                            {"n", options.n},
                            {"columns", of.columns},
                            {"file", of.way},
                            {"step", streaming_step_names[k].second},
                            {"seconds", of.best[k].seconds()},
                            {"gain", 1 - of.best[k].seconds() / of.best[0].seconds()}});
    return rows;
}

}  // namespace

Json steps_benchmark(Engine& engine, const StepsOptions& options) {
    const OwnDistances own(engine, options.folder, options.n);
    const auto matrix = open_matrix(own.path());
    const auto slow = limit_rate(open_matrix(own.path()), options.rate);
    std::vector<Case> cases;
    for (const Index columns : options.columns) {
        cases.push_back({.way = "cold", .matrix = *matrix, .columns = columns});
        cases.push_back({.way = "limited", .matrix = *slow, .columns = columns});
    }
    const bool is_first = engine.this_node() == NodeId{0};
    cli::ProgressLine progress(is_first ? cli::ProgressLine::Wanted::yes : cli::ProgressLine::Wanted::no);
    for (Index r = 0; r < options.repetitions; ++r)
        for (Case& of : cases)
            for (std::size_t k = 0; k < steps; ++k) {
                progress.show([&] {
                    return fmt::format("round {}: {}, {} columns, {}", r + 1, of.way, of.columns,
                                       streaming_step_names[k].second);
                });
                // What takes longest on any node counts.
                of.best[k].add(engine.max(first_product(engine, of, options, streaming_step_names[k].first)));
            }
    progress.clear();
    const std::vector<Row> rows = rows_of(engine, options, cases);
    if (!options.table.empty() && is_first) PartTable(options.table, "nodes", rows).write();
    Json checks = Json::array();
    for (const Case& of : cases)
        checks.push_back(at_most(fmt::format("{}, {} columns: all steps over sync", of.way, of.columns),
                                 of.best.back().seconds() / of.best.front().seconds(), 1));
    return {{"rows", rows}, {"checks", checks}};
}

}  // namespace tesela::bench
