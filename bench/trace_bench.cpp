#include "trace_bench.hpp"

#include "checks.hpp"
#include "timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/base/processor_time.hpp"
#include "tesela/distribution/families.hpp"
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
#include <vector>

namespace tesela::bench {
namespace {

double element(const void*, ElementIndex at) {
    return 1.0 / (1.0 + static_cast<double>(std::abs(at.i - at.j))) + (at.i == at.j ? 2.0 : 0.0);
}

/// Files that go away.
class Files {
public:
    explicit Files(const std::string& folder) : base_(fmt::format("{}/tesela-trace-bench-{}", folder, getpid())) {}
    ~Files() {
        for (const std::string& path : made_) std::remove(path.c_str());
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    std::string path(const std::string& ending) {
        made_.push_back(base_ + ending);
        return made_.back();
    }

private:
    std::string base_;
    std::vector<std::string> made_;
};

/// Elapsed time, and processor time of all threads of this process, which other programs disturb less.
struct Duration {
    double elapsed = 0;
    double processor = 0;
};

Duration factorize(StarpuEngine& engine, const TraceOptions& options) {
    Stream s(engine);
    const Tiling tiling = Tiling::square(options.n, options.tile);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()), {.stored = Stored::lower});
    generate(s, A.view(), {element});
    require_done(s.wait());
    const double before = processor_seconds();
    const double elapsed = seconds_of([&] {
        cholesky(s, A);
        require_done(s.wait());
    });
    return {elapsed, processor_seconds() - before};
}

void measure_overhead(StarpuEngine& engine, const TraceOptions& options, Files& files, nlohmann::ordered_json& result) {
    const std::string path = files.path(".run");
    std::vector<double> ratios;
    std::vector<double> processor_ratios;
    Best plain;
    Best traced;
    factorize(engine, options);  // touches memory and fills the lists of the allocator
    const auto traced_run = [&] {
        engine.start_trace({.path = path});
        const Duration duration = factorize(engine, options);
        engine.stop_trace();
        return duration;
    };
    for (int r = 0; r < options.repetitions; ++r) {
        // Each comes first as often as the other.
        const Duration before = r % 2 == 0 ? Duration{} : traced_run();
        const Duration without = factorize(engine, options);
        const Duration with = r % 2 == 0 ? traced_run() : before;
        plain.add(without.elapsed);
        traced.add(with.elapsed);
        ratios.push_back(with.elapsed / without.elapsed);
        processor_ratios.push_back(with.processor / without.processor);
    }
    result["n"] = options.n;
    result["tile"] = options.tile;
    result["seconds_untraced"] = plain.seconds();
    result["seconds_traced"] = traced.seconds();
    result["overhead_percent"] = 100 * (traced.seconds() / plain.seconds() - 1);
    result["overhead_percent_median"] = 100 * (median(ratios) - 1);
    result["processor_overhead_percent_median"] = 100 * (median(processor_ratios) - 1);
    result["trace_bytes"] = static_cast<double>(std::filesystem::file_size(path));
}

void measure_records(Files& files, nlohmann::ordered_json& result) {
    constexpr std::uint64_t records = 1'000'000;
    trace::Collector collector({.path = files.path(".records")});
    const double seconds = seconds_of([&] {
        for (std::uint64_t k = 0; k < records; ++k) {
            const std::int64_t now = trace::Collector::now();
            collector.put(trace::TaskRan{.id = k, .ready = now, .start = now, .end = now});
        }
    });
    collector.close();
    result["nanoseconds_per_event"] = 1e9 * seconds / static_cast<double>(records);
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

void measure_large(const TraceOptions& options, Files& files, nlohmann::ordered_json& result) {
    const std::string path = files.path(".large");
    result["large_tasks"] = LargeTrace(path, options.tasks).write();
    result["summary_seconds"] = seconds_of([&] {
        const trace::Trace trace = trace::read_trace(path);
        (void)trace::summarise(trace, trace::dependency_graph(trace));
    });
    for (const auto& conversion : options.conversions) {
        const std::string to = files.path(fmt::format(".{}", conversion.first));
        result[fmt::format("{}_seconds", conversion.first)] =
            seconds_of([&] { conversion.second(trace::read_trace(path), to); });
    }
}

/// At the sizes that they are meant for.
nlohmann::ordered_json checks_of(const nlohmann::ordered_json& result) {
    auto checks = nlohmann::ordered_json::array();
    const auto limit = [&](const std::string& name, double most) {
        checks.push_back(at_most(name, result.at(name).get<double>(), most));
    };
    if (result.at("n").get<Index>() >= 4000) limit("overhead_percent_median", 2);
    limit("nanoseconds_per_event", 1000);
    if (result.value("large_tasks", Index{0}) < 1'000'000) return checks;
    for (const auto& [name, value] : result.items())
        if (name == "summary_seconds") {
            limit(name, 10);
        } else if (name.ends_with("_seconds")) {
            limit(name, 30);
        }
    return checks;
}

}  // namespace

std::map<std::string, void (*)(const trace::Trace&, const std::string&)> TraceOptions::usual_conversions() {
    return {{"perfetto", export_perfetto}, {"paje", export_paje}, {"dot", export_dot}};
}

nlohmann::ordered_json trace_benchmark(StarpuEngine& engine, const TraceOptions& options) {
    if (options.n < 1 || options.tile < 1 || options.repetitions < 1 || options.tasks < 0)
        throw Error("--n, --tile and --repetitions must be at least 1, --tasks at least 0");
    Files files(options.folder);
    nlohmann::ordered_json result;
    measure_overhead(engine, options, files, result);
    result["checks"] = nlohmann::ordered_json::array();
    if (engine.this_node() != NodeId{0}) return result;
    measure_records(files, result);
    if (options.tasks > 0) measure_large(options, files, result);
    result["checks"] = checks_of(result);
    return result;
}

}  // namespace tesela::bench
