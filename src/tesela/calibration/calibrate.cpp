#include "tesela/calibration/calibrate.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/base/processor_time.hpp"
#include "tesela/calibration/internal/crew.hpp"
#include "tesela/calibration/internal/tile_supply.hpp"
#include "tesela/calibration/memory_bandwidth.hpp"
#include "tesela/kernels/dense.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <numeric>
#include <optional>
#include <utility>

namespace tesela::calibration {
namespace {

constexpr std::array element_types{ElementType::f64, ElementType::f32};
constexpr std::size_t warm_up_calls = 2;
constexpr std::size_t fewest_calls = 7;
constexpr std::size_t most_calls = 20'000;

/// One thread for BLAS inside a call, as in the workers of an engine.
class SingleThreadedBlas {
public:
    SingleThreadedBlas() : before_(set_blas_threads(1)) {}
    ~SingleThreadedBlas() { set_blas_threads(before_); }
    SingleThreadedBlas(const SingleThreadedBlas&) = delete;
    SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
    SingleThreadedBlas(SingleThreadedBlas&&) = delete;
    SingleThreadedBlas& operator=(SingleThreadedBlas&&) = delete;

private:
    int before_;
};

Spread spread_of(std::vector<double>& seconds) {
    std::ranges::sort(seconds);
    const std::size_t n = seconds.size();
    return {.best = seconds.front(),
            .mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(n),
            .slow = seconds[std::min(n - 1, n * 9 / 10)],
            .calls = static_cast<Index>(n)};
}

/// Each operand fits into the memory that a TileSupply has for it.
void check_operands(const Specimen& specimen, Index tile) {
    for (const Specimen::Operand& operand : specimen.operands(tile))
        if (const Index most = TileSupply::most_elements(operand.origin, tile);
            operand.shape.rows * operand.shape.cols > most)
            throw Error("{} cannot be timed: an operand has {} x {} elements where tiles have {} rows; {} fit",
                        specimen.kernel->name, operand.shape.rows, operand.shape.cols, tile, most);
}

/// All specimens at one tile size under one load, in as many rounds as wanted. Each worker has its own tiles.
class Session {
public:
    struct Setting {
        Index tile = 0;
        ElementType type = ElementType::f64;
        int workers = 1;
        double seconds = 0.1;
        Index walked_bytes = 0;
        const std::vector<int>& cores;
    };
    explicit Session(const Setting& setting)
        : setting_(setting),
          barrier_(setting.workers),
          supplies_(static_cast<std::size_t>(setting.workers)) {}

    using Announce = std::function<void(const Specimen&)>;
    std::vector<Spread> run(const std::vector<const Specimen*>& list, const Announce& announce) {
        const auto workers = static_cast<std::size_t>(setting_.workers);
        seconds_.assign(list.size(), std::vector<std::vector<double>>(workers));
        finished_ = std::vector<std::atomic<int>>(list.size());
        run_crew(
            setting_.workers, [&](int worker) { work(static_cast<std::size_t>(worker), list, announce); },
            setting_.cores);
        if (const Kernel* kernel = failed_.load())
            throw Error("{} failed on tiles of {} rows; please report this", kernel->name, setting_.tile);
        std::vector<Spread> spreads;
        for (auto& by_worker : seconds_) {
            std::vector<double> all;
            for (const auto& mine : by_worker) all.insert(all.end(), mine.begin(), mine.end());
            spreads.push_back(spread_of(all));
        }
        return spreads;
    }

private:
    void work(std::size_t worker, const std::vector<const Specimen*>& list, const Announce& announce) {
        std::optional<TileSupply>& supply = supplies_[worker];
        if (!supply)
            supply.emplace(
                TileSupply::Size{.tile = setting_.tile,
                                 .type = setting_.type,
                                 .bytes = static_cast<std::size_t>(setting_.walked_bytes / setting_.workers)});
        for (std::size_t s = 0; s < list.size(); ++s) {
            if (worker == 0) announce(*list[s]);
            supply->reset();
            barrier_.arrive_and_wait();
            repeat(*list[s], *supply, seconds_[s][worker], finished_[s]);
            barrier_.arrive_and_wait();
        }
    }
    /// Calls the kernel until the time is used, and then, without counting, until the others have used theirs: all
    /// calls that count are made beside busy neighbours.
    void repeat(const Specimen& specimen, TileSupply& supply, std::vector<double>& seconds,
                std::atomic<int>& finished) {
        const auto operands = specimen.operands(setting_.tile);
        const auto call = [&] {
            const auto tiles = supply.next(operands);
            const double processor_start = thread_seconds();
            const auto start = Clock::now();
            const KernelResult result = specimen.kernel->cpu({tiles, specimen.arguments.data()});
            const double taken = seconds_since(start);
            const double processor = thread_seconds() - processor_start;
            if (result.failure != Failure::none) failed_ = specimen.kernel;
            // Less than the time taken where another process had the core meanwhile; 0 where that clock ticks rarely.
            return processor > 0 ? std::min(taken, processor) : taken;
        };
        for (std::size_t n = 0; n < warm_up_calls; ++n) call();
        double used = 0;
        while (seconds.size() < fewest_calls || (used < setting_.seconds && seconds.size() < most_calls)) {
            seconds.push_back(call());
            used += seconds.back();
        }
        ++finished;
        while (finished < setting_.workers) call();
    }

    Setting setting_;
    std::barrier<> barrier_;
    std::vector<std::optional<TileSupply>> supplies_;        ///< by worker, whose thread makes it
    std::vector<std::vector<std::vector<double>>> seconds_;  ///< by specimen and worker
    std::vector<std::atomic<int>> finished_;
    std::atomic<const Kernel*> failed_{nullptr};
};

/// Rounds of the same calls as one. A machine that is faster at some times than at others is both during a run, so it
/// is the middle of the rounds that counts, and not the best.
Spread combined(const std::vector<Spread>& rounds) {
    std::vector<double> means;
    std::vector<double> slow;
    Spread all{.best = rounds.front().best, .rounds = static_cast<int>(rounds.size())};
    for (const Spread& round : rounds) {
        means.push_back(round.mean);
        slow.push_back(round.slow);
        all.best = std::min(all.best, round.best);
        all.calls += round.calls;
    }
    std::ranges::sort(means);
    if (means.size() > 1) all.drift = means[1] / means[0] - 1;
    all.mean = median(std::move(means));
    all.slow = median(std::move(slow));
    return all;
}

/// Times specimens in rounds until the two best of each agree, or there were enough. Between the rounds of one lie
/// those of the others: what disturbs the machine for a while disturbs one round.
template <class TimeRound>
std::vector<Spread> time_until_steady(const std::vector<const Specimen*>& list, int most_rounds,
                                      const TimeRound& time_round) {
    std::vector<std::vector<Spread>> rounds(list.size());
    std::vector<std::size_t> unsteady(list.size());
    std::iota(unsteady.begin(), unsteady.end(), std::size_t{0});
    for (int round = 0; round < most_rounds && !unsteady.empty(); ++round) {
        std::vector<const Specimen*> some;
        for (const std::size_t s : unsteady) some.push_back(list[s]);
        const auto more = time_round(some);
        for (std::size_t k = 0; k < some.size(); ++k) rounds[unsteady[k]].push_back(more[k]);
        std::erase_if(unsteady,
                      [&](std::size_t s) { return rounds[s].size() > 1 && combined(rounds[s]).drift <= steady_drift; });
    }
    std::vector<Spread> spreads;
    for (const auto& of_one : rounds) spreads.push_back(combined(of_one));
    return spreads;
}

/// Those that a session on tiles of one size and type can time.
std::vector<const Specimen*> some_of(const std::vector<Specimen>& list, Index tile, ElementType type) {
    std::vector<const Specimen*> some;
    for (const Specimen& s : list)
        if (s.type == type && (s.shape == CallShape::square || tile >= smallest_tile_for_narrow)) some.push_back(&s);
    return some;
}

/// Replaces each of some numbers of a node by the median of all nodes.
template <class Number>
void take_median(std::vector<NodeType*>& alike, const Number& number_of) {
    std::vector<double> values;
    for (NodeType* type : alike) values.push_back(number_of(*type));
    number_of(*alike.front()) = median(std::move(values));
}

void take_medians(std::vector<NodeType*>& alike) {
    take_median(alike, [](NodeType& type) -> double& { return type.memory; });
    take_median(alike, [](NodeType& type) -> double& { return type.memory_bandwidth; });
    const auto& kernels = alike.front()->workers.front().kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        for (auto field : {&TimedKernel::seconds, &TimedKernel::narrow}) {
            const std::size_t calls = (std::get<TimedKernel>(kernels[k].time).*field).size();
            for (std::size_t c = 0; c < calls; ++c)
                take_median(alike, [&](NodeType& type) -> double& {
                    return (std::get<TimedKernel>(type.workers.front().kernels[k].time).*field)[c].value;
                });
        }
    }
}

/// How many times as long calls of the kernels take on one node as on the other, of equal kernels and tile sizes.
std::vector<double> ratios(const NodeType& a, const NodeType& b) {
    std::vector<double> result;
    const auto& kernels = a.workers.front().kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const auto* first = std::get_if<TimedKernel>(&kernels[k].time);
        const auto* second = std::get_if<TimedKernel>(&b.workers.front().kernels[k].time);
        if (first == nullptr || second == nullptr) continue;
        for (std::size_t c = 0; c < first->seconds.size(); ++c)
            result.push_back(first->seconds[c].value / second->seconds[c].value);
    }
    return result;
}

/// Nodes of one kind whose kernels take the same time but for noise: one that is throttled or shared is of another.
bool equally_fast(const NodeType& a, const NodeType& b) {
    constexpr double usual = 1.15;  // measured: nodes of one kind, each busy, differ by up to 10 % in the median
    constexpr double most = 1.5;    // a single kernel, in few calls
    const auto within = [](double ratio, double limit) { return ratio < limit && ratio > 1 / limit; };
    std::vector<double> all = ratios(a, b);
    if (all.empty()) return true;
    const bool no_outlier = std::ranges::all_of(all, [&](double ratio) { return within(ratio, most); });
    return no_outlier && within(median(std::move(all)), usual);
}

void make_names_unique(std::vector<NodeType>& types) {
    for (std::size_t a = 0; a < types.size(); ++a) {
        char letter = 'a';
        const std::string name = types[a].name;
        for (std::size_t b = a + 1; b < types.size(); ++b) {
            if (types[b].name != name) continue;
            types[a].name = name + "_a";
            types[b].name = fmt::format("{}_{}", name, ++letter);
        }
    }
}

}  // namespace

void check(const CalibrationOptions& options) {
    if (options.specimens.empty() || options.tiles.empty()) throw Error("name at least one kernel and one tile size");
    for (const Index tile : options.tiles) {
        if (tile < 1 || tile > Specimen::largest_tile)
            throw Error("tiles of {} rows cannot be timed; take sizes from 1 to {}", tile, Specimen::largest_tile);
        for (const Specimen& specimen : options.specimens) check_operands(specimen, tile);
    }
    if (options.loads.empty()) throw Error("kernels are timed under at least one load");
    if (options.workers < 1) throw Error("kernels need at least one worker; {} were asked for", options.workers);
    if (options.most_rounds < 1) throw Error("kernels need at least one round; {} were asked for", options.most_rounds);
    if (!(options.seconds > 0) || options.seconds > 3600)
        throw Error("the time for each kernel must be above 0 and at most 3600 seconds; it is {}", options.seconds);
}

std::vector<KernelSample> time_kernels(const CalibrationOptions& options) {
    check(options);
    const SingleThreadedBlas one_thread;
    auto tiles = options.tiles;
    std::ranges::sort(tiles);
    tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
    const Index walked = options.walked_bytes > 0 ? options.walked_bytes : bytes_beyond_caches();
    const auto wanted = [&](Load load) { return std::ranges::find(options.loads, load) != options.loads.end(); };
    const bool times_busy = options.workers > 1 && wanted(Load::busy);
    const bool times_alone = !times_busy || wanted(Load::alone);
    const Index loads = (times_alone ? 1 : 0) + (times_busy ? 1 : 0);
    Index total = 0;
    for (const Index tile : tiles)
        for (const ElementType type : element_types)
            total += loads * static_cast<Index>(some_of(options.specimens, tile, type).size());
    Index done = 0;
    std::vector<KernelSample> samples;
    for (const Index tile : tiles)
        for (const ElementType type : element_types) {
            const auto list = some_of(options.specimens, tile, type);
            if (list.empty()) continue;
            bool counts = true;  // rounds after the first do not
            const auto announce = [&](const Specimen& specimen) {
                if (!counts) return;
                if (options.progress)
                    options.progress(done, total, fmt::format("{} on tiles of {}", specimen.kernel->name, tile));
                ++done;
            };
            const auto under = [&](int workers) {
                counts = true;
                Session session({.tile = tile,
                                 .type = type,
                                 .workers = workers,
                                 .seconds = options.seconds / 2,
                                 .walked_bytes = walked,
                                 .cores = options.cores});
                return time_until_steady(list, options.most_rounds, [&](const auto& some) {
                    auto spreads = session.run(some, announce);
                    counts = false;
                    return spreads;
                });
            };
            auto alone = times_alone ? under(1) : std::vector<Spread>{};
            const auto busy = times_busy ? under(options.workers) : alone;
            if (!times_alone) alone = busy;
            for (std::size_t s = 0; s < list.size(); ++s)
                samples.push_back({.kernel = list[s]->kernel->name,
                                   .tile = tile,
                                   .shape = list[s]->shape,
                                   .cost = cost_of(*list[s], tile),
                                   .alone = alone[s],
                                   .busy = busy[s]});
        }
    return samples;
}

std::vector<KernelTime> kernel_times(const std::vector<KernelSample>& samples, Load load) {
    std::vector<KernelTime> times;
    for (const KernelSample& sample : samples) {
        auto found = std::ranges::find(times, sample.kernel, &KernelTime::kernel);
        if (found == times.end())
            found =
                times.insert(times.end(), {.kernel = sample.kernel, .time = TimedKernel{}, .source = Source::measured});
        auto& timed = std::get<TimedKernel>(found->time);
        (sample.shape == CallShape::square ? timed.seconds : timed.narrow)
            .push_back({.tile = sample.tile,
                        .value = sample.under(load).mean,
                        .work = sample.cost.flops > 0 ? sample.cost.flops : sample.cost.bytes});
    }
    return times;
}

NodeTypes group_alike(const std::vector<MeasuredNode>& nodes) {
    NodeTypes result;
    std::vector<const MeasuredNode*> firsts;
    std::vector<std::vector<NodeType>> members;
    for (const MeasuredNode& node : nodes) {
        const auto found = std::ranges::find_if(firsts, [&](const MeasuredNode* first) {
            return first->description == node.description && equally_fast(first->type, node.type);
        });
        result.type_of.push_back(static_cast<std::size_t>(found - firsts.begin()));
        if (found == firsts.end()) {
            firsts.push_back(&node);
            members.emplace_back();
        }
        members[result.type_of.back()].push_back(node.type);
    }
    for (auto& alike : members) {
        std::vector<NodeType*> pointers;
        for (NodeType& type : alike) pointers.push_back(&type);
        take_medians(pointers);
        alike.front().count = static_cast<Index>(alike.size());
        result.types.push_back(alike.front());
    }
    make_names_unique(result.types);
    return result;
}

}  // namespace tesela::calibration
