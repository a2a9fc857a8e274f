#include "tesela/distribution/platform_constraint.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tesela {
namespace {

KernelWork work_of(double flops_per_cube, Index tile) {
    const auto n = static_cast<double>(tile);
    return {.tile = tile, .flops = flops_per_cube * n * n * n, .bytes = 3 * 8 * n * n};
}

}  // namespace

double fastest_seconds(const NodeType& type, std::string_view kernel, const KernelWork& work) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& group : type.workers)
        if (const auto seconds = kernel_seconds(group, kernel, work)) least = std::min(least, *seconds);
    return least;
}

std::vector<double> update_powers(const Platform& platform, Index tile) {
    return node_powers(platform, "dgemm", work_of(2, tile));
}

std::vector<NodeTimes> platform_times(const Platform& platform, Operation operation, Index tile) {
    struct Use {
        double KernelCosts::*kernel;
        const char* name;
        double flops;  // over the cube of the tile's size
    };
    std::vector<Use> uses{{&KernelCosts::update, "dgemm", 2}};
    if (operation != Operation::product) uses.push_back({&KernelCosts::solve, "dtrsm", 1});
    if (operation == Operation::lu) uses.push_back({&KernelCosts::factor, "dgetrf", 2.0 / 3});
    if (operation == Operation::cholesky) {
        uses.push_back({&KernelCosts::factor, "dpotrf", 1.0 / 3});
        uses.push_back({&KernelCosts::symmetric_update, "dsyrk", 1});
    }
    std::vector<NodeTimes> times;
    for (const auto& type : platform.node_types) {
        NodeTimes node{.shared = {0, 0, 0, 0}, .alone = {0, 0, 0, 0}};
        for (const auto& [kernel, name, flops] : uses) {
            const KernelWork work = work_of(flops, tile);
            const double power = node_power(type, name, work);
            if (!(power > 0)) no_duration(type, name);
            node.shared.*kernel = 1 / power;
            node.alone.*kernel = fastest_seconds(type, name, work);
        }
        times.insert(times.end(), static_cast<std::size_t>(type.count), node);
    }
    return times;
}

StepConstraint cholesky_constraint(const Platform& platform, Index tile, const KernelCosts& ratios) {
    struct Use {
        const char* kernel;
        double flops;  // over the cube of the tile's size
        double ratio;
    };
    const std::array<Use, 3> kernels{
        {{"dpotrf", 1.0 / 3, ratios.factor}, {"dtrsm", 1.0, ratios.solve}, {"dgemm", 2.0, ratios.update}}};
    StepConstraint constraint{.step_seconds = {}, .powers = update_powers(platform, tile)};
    if (ratios.update > 0)
        for (double& power : constraint.powers) power /= ratios.update;
    for (const auto& type : platform.node_types) {
        double seconds = 0;
        for (const auto& [kernel, flops, ratio] : kernels)
            seconds += ratio * fastest_seconds(type, kernel, work_of(flops, tile));
        if (seconds == std::numeric_limits<double>::infinity())
            throw Error("no worker of node type \"{}\" can run dpotrf, dtrsm and dgemm", type.name);
        constraint.step_seconds.insert(constraint.step_seconds.end(), static_cast<std::size_t>(type.count), seconds);
    }
    return constraint;
}

}  // namespace tesela
