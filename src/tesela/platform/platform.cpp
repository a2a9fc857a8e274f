#include "tesela/platform/platform.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace tesela {
namespace {

/// Straight line through two points of (log tile, log y).
double log_log(TilePoint a, TilePoint b, Index tile) {
    const double slope =
        std::log(b.value / a.value) / std::log(static_cast<double>(b.tile) / static_cast<double>(a.tile));
    return a.value * std::pow(static_cast<double>(tile) / static_cast<double>(a.tile), slope);
}

/// A field of the timed calls as a function of the tile size.
double at_tile(const std::vector<TimedCall>& calls, double TimedCall::*field, Index tile) {
    if (calls.size() == 1)
        return calls[0].*field * std::pow(static_cast<double>(tile) / static_cast<double>(calls[0].tile), 3);
    std::size_t right = 1;
    while (right + 1 < calls.size() && calls[right].tile < tile) ++right;
    const auto &a = calls[right - 1], &b = calls[right];
    return log_log({a.tile, a.*field}, {b.tile, b.*field}, tile);
}

struct Call {
    double seconds = 0;
    double work = 0;
};
Call call_at(const std::vector<TimedCall>& calls, Index tile) {
    return {at_tile(calls, &TimedCall::value, tile), at_tile(calls, &TimedCall::work, tile)};
}

double timed_seconds(const TimedKernel& timed, const KernelWork& call) {
    const double work = call.flops > 0 ? call.flops : call.bytes;
    if (work == 0 || timed.seconds.front().work == 0) return at_tile(timed.seconds, &TimedCall::value, call.tile);
    const Call full = call_at(timed.seconds, call.tile);
    if (timed.narrow.empty() || work >= full.work) return full.seconds * work / full.work;
    const Call narrow = call_at(timed.narrow, call.tile);
    if (work <= narrow.work) return narrow.seconds * work / narrow.work;
    return narrow.seconds + (full.seconds - narrow.seconds) * (work - narrow.work) / (full.work - narrow.work);
}

double efficiency_at(const std::vector<TilePoint>& points, Index tile) {
    if (points.empty()) return 1;
    if (tile <= points.front().tile) return points.front().value;
    for (std::size_t right = 1; right < points.size(); ++right) {
        const auto &a = points[right - 1], &b = points[right];
        if (tile <= b.tile)
            return a.value +
                   (b.value - a.value) * static_cast<double>(tile - a.tile) / static_cast<double>(b.tile - a.tile);
    }
    return points.back().value;
}

double amount(const KernelWork& work, RateUnit unit) {
    switch (unit) {
        case RateUnit::flops: return work.flops;
        case RateUnit::bytes: return work.bytes;
        case RateUnit::elements:
            return work.elements > 0 ? work.elements : static_cast<double>(work.tile) * static_cast<double>(work.tile);
    }
    return 0;
}

struct SecondsOf {
    const KernelWork& work;
    std::optional<double> operator()(const TimedKernel& timed) const { return timed_seconds(timed, work); }
    std::optional<double> operator()(const RatedKernel& rated) const {
        return amount(work, rated.unit) / (rated.rate * efficiency_at(rated.efficiency, work.tile));
    }
    std::optional<double> operator()(const UnavailableKernel&) const { return std::nullopt; }
};

void require_positive(double value, const std::string& path) {
    if (!(value > 0) || !std::isfinite(value)) throw Error("{} must be greater than 0; it is {}", path, value);
}

void require_at_least_one(Index value, const std::string& path) {
    constexpr Index most = 1'000'000;
    if (value < 1) throw Error("{} must be at least 1; it is {}", path, value);
    if (value > most) throw Error("{} must be at most {}; it is {}", path, most, value);
}

void require_not_negative(double value, const std::string& path) {
    if (!(value >= 0) || !std::isfinite(value)) throw Error("{} must be a number from 0 on; it is {}", path, value);
}

/// What a runtime system or a link takes for one task or message; an hour is a slip, and sums of such would overflow.
void require_overhead(double seconds, const std::string& path) {
    constexpr double most = 3600;
    require_not_negative(seconds, path);
    if (seconds > most) throw Error("{} must be at most {} s; it is {} s", path, most, seconds);
}

void check_runtime(const RuntimeCosts& costs, const std::string& path) {
    require_overhead(costs.submission, path + ".submission");
    require_overhead(costs.passing, path + ".passing");
    require_overhead(costs.task, path + ".task");
    require_overhead(costs.turn, path + ".turn");
    require_overhead(costs.message, path + ".message");
    require_not_negative(costs.message_bandwidth, path + ".message_bandwidth");
}

void check_link(const Link& link, const std::string& path) {
    if (!(link.bandwidth >= 1) || !std::isfinite(link.bandwidth))
        throw Error("{}.bandwidth must be at least a byte per second; it is {}", path, link.bandwidth);
    require_overhead(link.latency, path + ".latency");
}

template <class Point>
void check_points(const std::vector<Point>& points, const std::string& path) {
    for (std::size_t n = 0; n < points.size(); ++n) {
        const std::string point = fmt::format("{}[{}]", path, n);
        require_at_least_one(points[n].tile, point + ".tile");
        require_positive(points[n].value, point + ".value");
        if (n > 0 && points[n].tile <= points[n - 1].tile)
            throw Error("{}.tile must be larger than the one before; it is {}", point, points[n].tile);
    }
}

/// Either all calls say how much work they were, or none does.
void check_works(const std::vector<TimedCall>& calls, const std::string& path, double first) {
    for (std::size_t n = 0; n < calls.size(); ++n) {
        const std::string work = fmt::format("{}[{}].work", path, n);
        require_not_negative(calls[n].work, work);
        if ((calls[n].work > 0) != (first > 0)) throw Error("{} must be given for all timed calls or for none", work);
    }
}

void check_timed(const TimedKernel& timed, const std::string& path) {
    if (timed.seconds.empty()) throw Error("{}.seconds needs at least one tile size", path);
    check_points(timed.seconds, path + ".seconds");
    check_points(timed.narrow, path + ".narrow");
    const double first = timed.seconds.front().work;
    check_works(timed.seconds, path + ".seconds", first);
    check_works(timed.narrow, path + ".narrow", first);
    if (timed.narrow.empty()) return;
    if (first == 0) throw Error("{}.narrow[0].work must be given, to tell narrow calls from others", path);
    for (std::size_t n = 0; n < timed.narrow.size(); ++n)
        if (const auto& call = timed.narrow[n]; call.work >= call_at(timed.seconds, call.tile).work)
            throw Error("{}.narrow[{}].work must be less than that of a call on square tiles", path, n);
}

void check_kernel(const KernelTime& kernel, const std::string& path) {
    if (kernel.kernel.empty()) throw Error("{}.kernel must not be empty", path);
    if (const auto* timed = std::get_if<TimedKernel>(&kernel.time)) check_timed(*timed, path);
    if (const auto* rated = std::get_if<RatedKernel>(&kernel.time)) {
        require_positive(rated->rate, path + ".rate");
        check_points(rated->efficiency, path + ".efficiency");
        for (std::size_t n = 0; n < rated->efficiency.size(); ++n)
            if (rated->efficiency[n].value > 1)
                throw Error("{}.efficiency[{}].value must be at most 1, a share of the rate; it is {}", path, n,
                            rated->efficiency[n].value);
    }
}

void require_of_gpu(double value, const std::string& path) {
    if (value == 0) throw Error("{} is missing or 0: a GPU needs it", path);
}

void check_group(const WorkerGroup& group, const std::string& path) {
    require_at_least_one(group.count, path + ".count");
    require_at_least_one(group.streams, path + ".streams");
    require_not_negative(group.memory, path + ".memory");
    require_not_negative(group.memory_bandwidth, path + ".memory_bandwidth");
    require_not_negative(group.host_bandwidth, path + ".host_bandwidth");
    if (group.processor == Processor::gpu) {
        require_of_gpu(group.memory, path + ".memory");
        require_of_gpu(group.memory_bandwidth, path + ".memory_bandwidth");
        require_of_gpu(group.host_bandwidth, path + ".host_bandwidth");
    }
    std::set<std::string_view> seen;
    for (std::size_t n = 0; n < group.kernels.size(); ++n) {
        const std::string kernel = fmt::format("{}.kernels[{}]", path, n);
        check_kernel(group.kernels[n], kernel);
        if (!seen.insert(group.kernels[n].kernel).second)
            throw Error("{}.kernel repeats \"{}\"; keep one entry", kernel, group.kernels[n].kernel);
    }
}

const Subnet* find_subnet(const Platform& platform, std::string_view name) {
    const auto found = std::ranges::find(platform.subnets, name, &Subnet::name);
    return found == platform.subnets.end() ? nullptr : &*found;
}

void check_node_type(const Platform& platform, const NodeType& type, const std::string& path) {
    if (type.name.empty()) throw Error("{}.name must not be empty", path);
    require_at_least_one(type.count, path + ".count");
    require_not_negative(type.memory, path + ".memory");
    require_positive(type.memory_bandwidth, path + ".memory_bandwidth");
    check_link(type.nic, path + ".nic");
    if (platform.subnets.empty() != type.subnet.empty() ||
        (!type.subnet.empty() && !find_subnet(platform, type.subnet)))
        throw Error("{}.subnet is \"{}\", which is none of the {} subnets of the topology", path, type.subnet,
                    platform.subnets.size());
    if (type.workers.empty()) throw Error("{}.workers needs at least one group", path);
    for (std::size_t n = 0; n < type.workers.size(); ++n)
        check_group(type.workers[n], fmt::format("{}.workers[{}]", path, n));
    for (const auto& [name, count] : type.limits) require_at_least_one(count, path + ".limits." + name);
    check_runtime(type.runtime, path + ".runtime");
}

/// Every subnet reaches the top switch: following parents ends.
void check_subnets(const Platform& platform) {
    for (std::size_t n = 0; n < platform.subnets.size(); ++n) {
        const std::string path = fmt::format("topology.subnets[{}]", n);
        const Subnet* at = &platform.subnets[n];
        if (at->name.empty() || find_subnet(platform, at->name) != at)
            throw Error("{}.name must be new and not empty; it is \"{}\"", path, at->name);
        check_link(at->uplink, path + ".uplink");
        for (std::size_t steps = 0; !at->parent.empty(); ++steps) {
            const Subnet* above = find_subnet(platform, at->parent);
            if (!above) throw Error("{}.parent is \"{}\", which is not a subnet", path, at->parent);
            if (steps == platform.subnets.size())
                throw Error("{}.parent goes round in a circle: \"{}\" is above itself", path, at->name);
            at = above;
        }
    }
}

struct KernelUse {
    bool can_run = false;
    std::string path;
};

/// A kernel that is unavailable on every worker that mentions it could never be scheduled.
void check_kernels_run(const Platform& platform) {
    std::map<std::string, KernelUse> uses;
    for (std::size_t t = 0; t < platform.node_types.size(); ++t) {
        const auto& groups = platform.node_types[t].workers;
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (std::size_t k = 0; k < groups[g].kernels.size(); ++k) {
                const auto& kernel = groups[g].kernels[k];
                auto& use = uses[kernel.kernel];
                use.can_run |= !std::holds_alternative<UnavailableKernel>(kernel.time);
                use.path = fmt::format("node_types[{}].workers[{}].kernels[{}]", t, g, k);
            }
    }
    for (const auto& [name, use] : uses)
        if (!use.can_run) throw Error("{}: no worker of the platform can run the kernel \"{}\"", use.path, name);
}

struct Choice {
    Index count = 0;
    std::string_view type;
};

Choice parse_choice(std::string_view term, std::string_view whole) {
    Choice choice;
    const auto [end, error] = std::from_chars(term.data(), term.data() + term.size(), choice.count);
    choice.type = term.substr(static_cast<std::size_t>(end - term.data()));
    if (error != std::errc{} || choice.count < 1 || choice.type.empty())
        throw Error("\"{}\" in the choice of nodes \"{}\" is not a number and a node type, as in 6che+6chi", term,
                    whole);
    return choice;
}

std::string known_types(const Platform& platform) {
    std::string names;
    for (const auto& type : platform.node_types)
        names += fmt::format("{}{} {}", names.empty() ? "" : ", ", type.count, type.name);
    return names;
}

}  // namespace

namespace {

/// Ranks that grow, and how many times as long something takes.
void check_recompression(const LogCurve& curve) {
    for (std::size_t k = 0; k < curve.size(); ++k) {
        if (!(curve[k].x > 0) || !std::isfinite(curve[k].x) || (k > 0 && curve[k].x <= curve[k - 1].x))
            throw Error("recompression[{}].rank must be above 0 and above that before it; it is {}", k, curve[k].x);
        if (!(curve[k].y > 0) || !std::isfinite(curve[k].y))
            throw Error("recompression[{}].slowness must be above 0; it is {}", k, curve[k].y);
    }
}

}  // namespace

void check_platform(const Platform& platform) {
    if (platform.node_types.empty()) throw Error("node_types needs at least one node type");
    check_subnets(platform);
    std::set<std::string_view> names;
    for (std::size_t n = 0; n < platform.node_types.size(); ++n) {
        const std::string path = fmt::format("node_types[{}]", n);
        check_node_type(platform, platform.node_types[n], path);
        if (!names.insert(platform.node_types[n].name).second)
            throw Error("{}.name repeats \"{}\"", path, platform.node_types[n].name);
    }
    check_kernels_run(platform);
    check_recompression(platform.recompression);
}

Index node_count(const Platform& platform) {
    Index count = 0;
    for (const auto& type : platform.node_types) count += type.count;
    return count;
}

const NodeType& node_type(const Platform& platform, NodeId node) {
    Index first = 0;
    for (const auto& type : platform.node_types) {
        first += type.count;
        if (node.number() >= 0 && node.number() < first) return type;
    }
    throw Error("node {} is not one of the {} nodes of the platform", node.number(), first);
}

void scale(KernelTime& kernel, double factor) {
    if (auto* timed = std::get_if<TimedKernel>(&kernel.time)) {
        for (TimedCall& call : timed->seconds) call.value *= factor;
        for (TimedCall& call : timed->narrow) call.value *= factor;
    }
    if (auto* rated = std::get_if<RatedKernel>(&kernel.time)) rated->rate /= factor;
}

std::optional<double> kernel_seconds(const WorkerGroup& group, std::string_view kernel, const KernelWork& work) {
    const auto found = std::ranges::find(group.kernels, kernel, &KernelTime::kernel);
    if (found == group.kernels.end()) return std::nullopt;
    return std::visit(SecondsOf{work}, found->time);
}

void no_duration(const NodeType& type, std::string_view kernel) {
    throw Error("no worker of node type \"{}\" has a duration for the kernel {}: add it to the platform", type.name,
                kernel);
}

double node_power(const NodeType& type, std::string_view kernel, const KernelWork& work) {
    double calls_per_second = 0;
    for (const auto& group : type.workers)
        if (const auto seconds = kernel_seconds(group, kernel, work))
            calls_per_second += static_cast<double>(group.count) / *seconds;
    return calls_per_second;
}

std::vector<double> node_powers(const Platform& platform, std::string_view kernel, const KernelWork& work) {
    std::vector<double> powers;
    for (const auto& type : platform.node_types)
        powers.insert(powers.end(), static_cast<std::size_t>(type.count), node_power(type, kernel, work));
    return powers;
}

Platform choose_nodes(const Platform& platform, std::string_view choice) {
    Platform chosen = platform;
    chosen.node_types.clear();
    for (std::string_view rest = choice;;) {
        const auto plus = rest.find('+');
        const auto [count, name] = parse_choice(rest.substr(0, plus), choice);
        const auto found = std::ranges::find(platform.node_types, name, &NodeType::name);
        if (found == platform.node_types.end() || count > found->count)
            throw Error("the platform \"{}\" does not have {} nodes \"{}\"; it has {}", platform.name, count, name,
                        known_types(platform));
        if (std::ranges::find(chosen.node_types, name, &NodeType::name) != chosen.node_types.end())
            throw Error("the choice of nodes \"{}\" names \"{}\" twice", choice, name);
        chosen.node_types.push_back(*found);
        chosen.node_types.back().count = count;
        if (plus == std::string_view::npos) return chosen;
        rest.remove_prefix(plus + 1);
    }
}

}  // namespace tesela
