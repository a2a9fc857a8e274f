#include "experiments.hpp"
#include "harness/engine_options.hpp"
#include "harness/timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/base/processor_time.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/io/hdf5/trace_hdf5.hpp"
#include "tesela/io/trace_export.hpp"
#include "tesela/trace/analysis.hpp"
#include "tesela/trace/collector.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tesela::bench {
namespace {

struct TraceOptions {
    Index n = 4000;
    Index tile = 256;
    int repetitions = 7;
    Index tasks = 1'000'000;
    std::string folder = "/tmp";
    EngineOptions engine;
};

void add_trace_options(CLI::App& command, TraceOptions& options) {
    command.add_option("--n", options.n, "Order of the matrix")->capture_default_str();
    command.add_option("--tile", options.tile, "Tile size")->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    command.add_option("--tasks", options.tasks, "Tasks of the large trace; 0 leaves it out")->capture_default_str();
    command.add_option("--folder", options.folder, "Where the traces go meanwhile")->capture_default_str();
    add_engine_options(command, options.engine);
}

double traced_element(const void*, ElementIndex at) {
    return 1.0 / (1.0 + static_cast<double>(std::abs(at.i - at.j))) + (at.i == at.j ? 2.0 : 0.0);
}

/// Files that go away.
class PassingFiles {
public:
    explicit PassingFiles(const std::string& folder)
        : base_(fmt::format("{}/tesela-trace-bench-{}", folder, getpid())) {}
    ~PassingFiles() {
        for (const std::string& path : made_) std::remove(path.c_str());
    }
    PassingFiles(const PassingFiles&) = delete;
    PassingFiles& operator=(const PassingFiles&) = delete;
    std::string path(const std::string& ending) {
        made_.push_back(base_ + ending);
        return made_.back();
    }

private:
    std::string base_;
    std::vector<std::string> made_;
};

/// Elapsed time, and processor time of all threads of this process, which other programs disturb less.
struct TimeOfRun {
    double elapsed = 0;
    double processor = 0;
};

TimeOfRun time_of_factorisation(StarpuEngine& engine, const TraceOptions& options) {
    Stream s(engine);
    const Tiling tiling = Tiling::square(options.n, options.tile);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()), {.stored = Stored::lower});
    generate(s, A.view(), {traced_element});
    require_done(s.wait());
    const double before = processor_seconds();
    const double elapsed = seconds_of([&] {
        cholesky(s, A);
        require_done(s.wait());
    });
    return {elapsed, processor_seconds() - before};
}

void measure_tracing(StarpuEngine& engine, const TraceOptions& options, PassingFiles& files, Row& figures) {
    const std::string path = files.path(".run");
    std::vector<double> ratios;
    std::vector<double> processor_ratios;
    Best plain;
    Best traced;
    time_of_factorisation(engine, options);  // touches memory and fills the lists of the allocator
    const auto traced_run = [&] {
        engine.start_trace({.path = path});
        const TimeOfRun time = time_of_factorisation(engine, options);
        engine.stop_trace();
        return time;
    };
    for (int r = 0; r < options.repetitions; ++r) {
        // Each comes first as often as the other.
        const TimeOfRun before = r % 2 == 0 ? TimeOfRun{} : traced_run();
        const TimeOfRun without = time_of_factorisation(engine, options);
        const TimeOfRun with = r % 2 == 0 ? traced_run() : before;
        plain.add(without.elapsed);
        traced.add(with.elapsed);
        ratios.push_back(with.elapsed / without.elapsed);
        processor_ratios.push_back(with.processor / without.processor);
    }
    figures["n"] = options.n;
    figures["tile"] = options.tile;
    figures["seconds_untraced"] = plain.seconds();
    figures["seconds_traced"] = traced.seconds();
    figures["overhead_percent"] = 100 * (traced.seconds() / plain.seconds() - 1);
    figures["overhead_percent_median"] = 100 * (median(ratios) - 1);
    figures["processor_overhead_percent_median"] = 100 * (median(processor_ratios) - 1);
    figures["trace_bytes"] = static_cast<double>(std::filesystem::file_size(path));
}

void measure_records(PassingFiles& files, Row& figures) {
    constexpr std::uint64_t records = 1'000'000;
    trace::Collector collector({.path = files.path(".records")});
    const double seconds = seconds_of([&] {
        for (std::uint64_t k = 0; k < records; ++k) {
            const std::int64_t now = trace::Collector::now();
            collector.put(trace::TaskRan{.id = k, .ready = now, .start = now, .end = now});
        }
    });
    collector.close();
    figures["nanoseconds_per_event"] = 1e9 * seconds / static_cast<double>(records);
}

/// Writes the trace of a Cholesky factorization with at least so many tasks, whose times are invented.
class LargeTrace {
public:
    LargeTrace(const std::string& path, Index tasks) : collector_({.path = path}) {
        while (nt_ * (nt_ + 1) * (nt_ + 2) / 6 < tasks) ++nt_;
        for (std::uint16_t w = 0; w < workers; ++w)
            collector_.define({{"type", "worker"}, {"id", w}, {"kind", "cpu"}, {"name", "core"}});
        collector_.define({{"type", "matrix"}, {"id", 0}, {"name", "A"}, {"first", 0}, {"rows", nt_}, {"cols", nt_}});
        now_.fill(trace::Collector::now());
    }
    Index write() {
        const auto read = [this](Index i, Index j) { return trace::pack_access(datum(i, j), trace::Use::read); };
        const auto change = [this](Index i, Index j) {
            return trace::pack_access(datum(i, j), trace::Use::read_write);
        };
        for (Index k = 0; k < nt_; ++k) {
            task("potrf", k, {k, k}, {change(k, k)});
            for (Index i = k + 1; i < nt_; ++i) task("trsm", k, {i, k}, {read(k, k), change(i, k)});
            for (Index j = k + 1; j < nt_; ++j) {
                task("syrk", k, {j, j}, {read(j, k), change(j, j)});
                for (Index i = j + 1; i < nt_; ++i) task("gemm", k, {i, j}, {read(i, k), read(j, k), change(i, j)});
            }
        }
        collector_.close();
        return static_cast<Index>(id_);
    }

private:
    static constexpr std::uint16_t workers = 16;
    [[nodiscard]] std::uint64_t datum(Index i, Index j) const { return static_cast<std::uint64_t>(i * nt_ + j); }
    void task(const char* kernel, Index step, TileIndex tile, const std::vector<std::uint64_t>& accesses) {
        const auto worker = static_cast<std::uint16_t>(id_ % workers);
        trace::TaskAccesses more{.count = static_cast<std::uint8_t>(accesses.size() - 1), .id = id_};
        std::copy(accesses.begin() + 1, accesses.end(), more.access.begin());
        const std::array<trace::Record, 2> records{
            to_record(trace::TaskCreated{.access_count = static_cast<std::uint8_t>(accesses.size()),
                                         .kernel = collector_.number_of("kernel", kernel),
                                         .step = static_cast<std::int32_t>(step),
                                         .time = now_[worker],
                                         .id = id_,
                                         .i = static_cast<std::int32_t>(tile.i),
                                         .j = static_cast<std::int32_t>(tile.j),
                                         .matrix = 0,
                                         .first_access = accesses.front()}),
            to_record(more)};
        collector_.put(std::span{records.data(), accesses.size() > 1 ? 2U : 1U});
        const std::int64_t start = now_[worker] + 500;
        now_[worker] = start + 20'000;
        collector_.put(trace::TaskRan{
            .worker = worker, .id = id_, .ready = start - 500, .start = start, .end = now_[worker], .flops = 1e6F});
        ++id_;
    }

    trace::Collector collector_;
    Index nt_ = 1;
    std::uint64_t id_ = 0;
    std::array<std::int64_t, workers> now_{};
};

using TraceConversion = void (*)(const trace::Trace&, const std::string&);
constexpr std::array<std::pair<const char*, TraceConversion>, 4> trace_conversions{
    {{"dot", export_dot}, {"hdf5", export_hdf5}, {"paje", export_paje}, {"perfetto", export_perfetto}}};

void measure_large(Index tasks, PassingFiles& files, Row& figures) {
    const std::string path = files.path(".large");
    figures["large_tasks"] = LargeTrace(path, tasks).write();
    figures["summary_seconds"] = seconds_of([&] {
        const trace::Trace trace = trace::read_trace(path);
        (void)trace::summarise(trace, trace::dependency_graph(trace));
    });
    for (const auto& conversion : trace_conversions) {
        const std::string to = files.path(fmt::format(".{}", conversion.first));
        figures[fmt::format("{}_seconds", conversion.first)] =
            seconds_of([&] { conversion.second(trace::read_trace(path), to); });
    }
}

/// At the sizes that they are meant for.
std::vector<Check> checks_of_tracing(const Row& figures) {
    std::vector<Check> checks;
    const auto limit = [&](const std::string& name, double most) {
        checks.push_back(at_most(name, figures.at(name).get<double>(), most));
    };
    if (figures.at("n").get<Index>() >= 4000) limit("overhead_percent_median", 2);
    limit("nanoseconds_per_event", 1000);
    if (figures.value("large_tasks", Index{0}) < 1'000'000) return checks;
    for (const auto& [name, value] : figures.items())
        if (name == "summary_seconds") {
            limit(name, 10);
        } else if (name.ends_with("_seconds")) {
            limit(name, 30);
        }
    return checks;
}

/// What tracing costs: Cholesky traced and untraced, interleaved, best of each; nanoseconds per record that one thread
/// puts; and how long a large trace takes to be summarised and converted.
Report run_trace(const TraceOptions& options) {
    if (options.n < 1 || options.tile < 1 || options.repetitions < 1 || options.tasks < 0)
        throw Error("--n, --tile and --repetitions must be at least 1, --tasks at least 0");
    const auto engine = start_engine(options.engine);
    PassingFiles files(options.folder);
    Report report;
    measure_tracing(*engine, options, files, report.figures);
    if (!engine->is_first()) return report;
    measure_records(files, report.figures);
    if (options.tasks > 0) measure_large(options.tasks, files, report.figures);
    report.checks = checks_of_tracing(report.figures);
    return report;
}

}  // namespace

Experiment trace() {
    return experiment(
        "trace",
        "What tracing a run costs, and how long a large trace takes to read; exit code 1 if it costs more "
        "than 2 % from n = 4000 or 1 microsecond per event, or a million tasks take longer than 10 s to "
        "summarise or 30 s to convert",
        add_trace_options, run_trace);
}

}  // namespace tesela::bench
