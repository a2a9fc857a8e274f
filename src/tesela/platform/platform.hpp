#pragma once

#include "tesela/base/index.hpp"
#include "tesela/base/log_curve.hpp"

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tesela {

/// Where a duration comes from: timed on the machine, or computed from published rates.
enum class Source : std::uint8_t { measured, derived };
/// What a group of workers is made of.
enum class Processor : std::uint8_t { cpu, gpu };
/// What a rate counts per second.
enum class RateUnit : std::uint8_t { flops, bytes, elements };

/// One point of a curve over tile sizes.
struct TilePoint {
    Index tile = 0;
    double value = 0;
    friend bool operator==(const TilePoint&, const TilePoint&) = default;
};

/// A call that was timed. Its work is in flops, or in bytes where the kernel has no flops; 0 where it is not known.
struct TimedCall {
    Index tile = 0;
    double value = 0;  ///< seconds
    double work = 0;
    friend bool operator==(const TimedCall&, const TimedCall&) = default;
};

/// Seconds timed at some tile sizes. Between two sizes, and beyond the ends, log(seconds) is linear in log(tile);
/// with a single size seconds grow with its cube. Calls with less work than the timed one (the last tiles of a matrix,
/// right-hand sides of few columns) take their share of it; where `narrow` has such calls too, seconds are linear in
/// the work between both, since an operand that is read anyway costs the same for one column as for many.
struct TimedKernel {
    std::vector<TimedCall> seconds;
    std::vector<TimedCall> narrow{};
    friend bool operator==(const TimedKernel&, const TimedKernel&) = default;
};

/// work / (rate × efficiency(tile)); the efficiency is linear between its points, constant beyond them and 1 without.
struct RatedKernel {
    double rate = 0;
    RateUnit unit = RateUnit::flops;
    std::vector<TilePoint> efficiency;
    friend bool operator==(const RatedKernel&, const RatedKernel&) = default;
};

/// The workers have no implementation of the kernel.
struct UnavailableKernel {
    friend bool operator==(const UnavailableKernel&, const UnavailableKernel&) = default;
};

/// How long a kernel takes on one worker of a group.
struct KernelTime {
    std::string kernel;  ///< the kernel's own name, with its precision: "dgemm"
    std::variant<TimedKernel, RatedKernel, UnavailableKernel> time;
    Source source = Source::derived;
    friend bool operator==(const KernelTime&, const KernelTime&) = default;
};

/// Equal workers of a node: its cores, or its GPUs with `streams` kernels at a time on each. The durations on a GPU are
/// those of a kernel that has all of it; kernels that run at the same time share it.
struct WorkerGroup {
    std::string name;
    Processor processor = Processor::cpu;
    Index count = 0;
    Index streams = 1;
    double memory = 0;            ///< bytes on each GPU; 0 for cores, which use the node's
    double memory_bandwidth = 0;  ///< bytes/s of a GPU's own memory; 0 for cores
    double host_bandwidth = 0;    ///< bytes/s between host and each GPU; 0 for cores
    std::vector<KernelTime> kernels;
    friend bool operator==(const WorkerGroup&, const WorkerGroup&) = default;
};

/// A network interface or an uplink; both directions at once.
struct Link {
    double bandwidth = 0;  ///< bytes/s
    double latency = 0;    ///< seconds; of an interface: of a message to another such interface at the same switch
    Source source = Source::derived;
    friend bool operator==(const Link&, const Link&) = default;
};

/// What the runtime system takes beside the kernels. `tesela calibrate` measures it; the defaults are those of the
/// StarPU engine on one server, with tasks and messages that take no time of their cores.
struct RuntimeCosts {
    double submission = 6.2e-6;    ///< seconds of the thread that submits, for an item that concerns its node
    double passing = 0.1e-6;       ///< the same for any other item
    double task = 0;               ///< seconds that a core needs for a task beside its kernel
    double turn = 0;               ///< seconds at least from one task that a core of the node takes to the next
    double message = 0;            ///< seconds that busy cores lose to a message which their node sends or receives
    double message_bandwidth = 0;  ///< bytes/s at which they lose time to its bytes; 0: none is lost
    Source source = Source::derived;
    friend bool operator==(const RuntimeCosts&, const RuntimeCosts&) = default;

    /// What the busy cores of a node lose to a message in all.
    [[nodiscard]] double message_seconds(double bytes) const {
        return message + (message_bandwidth > 0 ? bytes / message_bandwidth : 0);
    }
};

/// Machines that are alike.
struct NodeType {
    std::string name;
    Index count = 0;
    double memory = 0;            ///< bytes; 0 where it is not known (main_memory.hpp)
    double memory_bandwidth = 0;  ///< bytes/s, all cores together
    Link nic;
    std::string subnet;  ///< empty on a flat network
    std::vector<WorkerGroup> workers;
    std::map<std::string, Index> limits;  ///< resources (file readers) and kernels: how many tasks at a time
    RuntimeCosts runtime{};
    friend bool operator==(const NodeType&, const NodeType&) = default;
};

/// A switch whose nodes reach the others through one uplink: to the subnet `parent`, or to the top switch if empty.
struct Subnet {
    std::string name;
    Link uplink;
    std::string parent;
    friend bool operator==(const Subnet&, const Subnet&) = default;
};

/// The description of a machine: node types, their workers and kernel durations, and the network between them. Nodes
/// are numbered type by type. No subnets: every node hangs on one switch that never saturates.
struct Platform {
    std::string name;
    std::vector<NodeType> node_types;
    std::vector<Subnet> subnets;
    std::string description{};  ///< for people: where the numbers come from
    /// By the rank of a sum of low-rank tiles, how many times as long operations take that recompress it as those of a
    /// dense product, on all workers. Empty: as long.
    LogCurve recompression{};
    friend bool operator==(const Platform&, const Platform&) = default;
};

/// What one call of a kernel amounts to: the longest side of its tiles, and what the kernel's cost function says. Flops
/// and bytes may be left out for a call on square tiles, of the kind that was timed.
struct KernelWork {
    Index tile = 0;
    double flops = 0;
    double bytes = 0;
    double elements = 0;  ///< of the tile written; 0 means tile²

    /// A tile that the call uses; of several that it writes the last counts.
    void add_tile(Index rows, Index cols, bool written) {
        tile = std::max({tile, rows, cols});
        if (written) elements = static_cast<double>(rows * cols);
    }
};

/// Throws Error naming the field, as node_types[1].workers[0].count, unless counts and bandwidths are positive, names
/// are unique, subnets form a tree and every kernel that is mentioned can run on some worker.
void check_platform(const Platform& platform);

[[nodiscard]] Index node_count(const Platform& platform);
[[nodiscard]] const NodeType& node_type(const Platform& platform, NodeId node);

/// Makes all calls of a kernel take so many times as long.
void scale(KernelTime& kernel, double factor);

/// Seconds of one call on one worker; nothing where the kernel is unavailable or not listed.
[[nodiscard]] std::optional<double> kernel_seconds(const WorkerGroup& group, std::string_view kernel,
                                                   const KernelWork& work);
/// Throws the Error for a kernel that no worker of a node type has a duration for.
[[noreturn]] void no_duration(const NodeType& type, std::string_view kernel);
/// Calls per second of a node when all its workers run the kernel; 0 where none can.
[[nodiscard]] double node_power(const NodeType& type, std::string_view kernel, const KernelWork& work);
/// node_power of every node, in the order of their numbers: what the heterogeneous distributions take.
[[nodiscard]] std::vector<double> node_powers(const Platform& platform, std::string_view kernel,
                                              const KernelWork& work);

/// The part of a platform that "6che+6chi+2cho" names. Throws Error for an unknown type or more nodes than there are.
[[nodiscard]] Platform choose_nodes(const Platform& platform, std::string_view choice);

/// {"format": "tesela-platform", "version": 1, "name", "node_types": […], "topology": …}, quantities in base units.
void to_json(nlohmann::json& json, const Platform& platform);
/// Quantities are numbers in base units or text with a unit (platform/quantity.hpp). Throws Error naming the field.
void from_json(const nlohmann::json& json, Platform& platform);

}  // namespace tesela
