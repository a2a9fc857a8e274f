#pragma once

// Small platforms with round numbers, and algorithms simulated on them.

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/lu.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tesela::testing {

inline constexpr Index tile_size = 100;
inline constexpr double tile_of_doubles = 8.0 * tile_size * tile_size;

inline std::vector<KernelTime> kernels(const std::map<std::string, double>& seconds) {
    std::vector<KernelTime> list;
    for (const auto& [name, value] : seconds)
        list.push_back({.kernel = name, .time = TimedKernel{.seconds = {{.tile = tile_size, .value = value}}}});
    return list;
}

/// Seconds that are not multiples of each other, so that a wrong order shows.
inline std::vector<KernelTime> core_kernels() {
    return kernels({{"dpotrf", 0.7e-3},
                    {"dgetrf", 0.9e-3},
                    {"dtrsm", 1.3e-3},
                    {"dsyrk", 1.1e-3},
                    {"dgemm", 2.3e-3},
                    {"dlaset", 0.1e-3},
                    {"dgeadd", 0.2e-3},
                    {"dgenerate", 0.4e-3},
                    {"dgemv", 0.3e-3}});
}
inline std::vector<KernelTime> gpu_kernels() {
    return kernels({{"dpotrf", 2e-3}, {"dtrsm", 0.31e-3}, {"dsyrk", 0.17e-3}, {"dgemm", 0.23e-3}});
}

inline NodeType cores(std::string name, Index count, Index workers, Link nic = {1e9, 1e-5}) {
    return {.name = std::move(name),
            .count = count,
            .memory = 1e12,
            .memory_bandwidth = 1e11,
            .nic = nic,
            .workers = {{.name = "cores", .count = workers, .kernels = core_kernels()}}};
}

struct Gpus {
    Index count = 1;
    Index streams = 1;
    double memory = 1e9;
};
inline NodeType with_gpus(NodeType type, const Gpus& gpus) {
    type.workers.push_back({.name = "gpus",
                            .processor = Processor::gpu,
                            .count = gpus.count,
                            .streams = gpus.streams,
                            .memory = gpus.memory,
                            .memory_bandwidth = 1e12,
                            .host_bandwidth = 1e10,
                            .kernels = gpu_kernels()});
    return type;
}

inline Platform platform_of(std::vector<NodeType> types) { return {.name = "test", .node_types = std::move(types)}; }

inline void put_into_subnets(Platform& platform, std::vector<std::string> names) {
    for (std::size_t t = 0; t < names.size(); ++t) platform.node_types[t].subnet = std::move(names[t]);
}

/// Two subnets behind uplinks, nodes of three kinds.
inline Platform mixed_platform() {
    Platform platform =
        platform_of({cores("slow", 2, 3), with_gpus(cores("mid", 2, 2), {.memory = 40 * tile_of_doubles}),
                     with_gpus(cores("fast", 1, 2, {2.5e9, 1e-5}), {.count = 2, .streams = 3})});
    platform.subnets = {{"a", {1.5e9, 2e-6}, ""}, {"b", {1.5e9, 2e-6}, ""}};
    put_into_subnets(platform, {"a", "a", "b"});
    return platform;
}

/// A matrix that is there from the beginning.
inline Matrix<double> given(Stream& s, Index tiles, const Distribution& owners, Stored stored = Stored::full,
                            const char* name = "A") {
    return {s,
            Tiling::square(tiles * tile_size, tile_size),
            owners,
            {.name = name, .stored = stored, .memory = [](TileIndex) { return TileMemory{}; }}};
}

enum class Algorithm { cholesky, lu, product };

inline void submit(Stream& s, Algorithm algorithm, Index tiles, const Distribution& owners) {
    if (algorithm == Algorithm::cholesky) {
        cholesky(s, given(s, tiles, owners, Stored::lower));
    } else if (algorithm == Algorithm::lu) {
        lu(s, given(s, tiles, owners));
    } else {
        const Matrix<double> C(s, Tiling::square(tiles * tile_size, tile_size), owners, {.name = "C"});
        gemm(s, given(s, tiles, owners).view(), given(s, tiles, owners, Stored::full, "B").view(), C.view());
    }
    require_done(s.wait());
}

/// What came out of a simulation.
struct Simulated {
    std::unique_ptr<Schedule> schedule = std::make_unique<Schedule>();
    SimulationResult result;
    Recording recording;
    Platform platform;
    SimulationOptions options{};
};

template <class Submit>
void simulate(Simulated& simulated, SimulationOptions options, const Submit& work) {
    simulated.options = options;
    options.observers.push_back(simulated.schedule.get());
    SimulatedEngine engine(simulated.platform, options);
    {
        Stream s(engine);
        work(s);
        require_done(s.wait());
    }
    simulated.result = engine.result();
    simulated.recording = engine.recording();
}

inline Distribution all_on(Index nodes, std::int32_t node, GridSize grid) {
    return {grid, nodes, std::vector<std::int32_t>(static_cast<std::size_t>(grid.count()), node)};
}

/// A row of tiles on node 0, each zeroed: tasks that do not depend on each other.
inline void zero_tiles(Stream& s, Index count) {
    const Matrix<double> A(s, Tiling::uniform({tile_size, count * tile_size}, {tile_size, tile_size}),
                           all_on(s.engine().node_count(), 0, {1, count}));
    for (Index j = 0; j < count; ++j) s.submit(tasks::laset({}, A(0, j)));
    require_done(s.wait());
}

template <class Function>
std::string error_of(const Function& function) {
    try {
        function();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace tesela::testing
