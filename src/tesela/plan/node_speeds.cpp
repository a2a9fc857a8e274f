#include "tesela/plan/node_speeds.hpp"

#include "tesela/base/median.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::plan {
namespace {

constexpr Index fewest_calls = 5;
/// A kernel with less of its node's time does not matter.
constexpr double least_share = 0.1;

KernelUse since(const KernelUse& after, const std::vector<KernelUse>& before) {
    KernelUse use = after;
    const auto found = std::ranges::find(before, after.kernel, &KernelUse::kernel);
    if (found == before.end()) return use;
    use.calls -= found->calls;
    use.seconds -= found->seconds;
    use.flops -= found->flops;
    use.bytes -= found->bytes;
    return use;
}

/// Of the cores: what accelerators do is not timed.
const WorkerGroup* cores_of(const NodeType& node) {
    const auto found = std::ranges::find(node.workers, Processor::cpu, &WorkerGroup::processor);
    return found == node.workers.end() ? nullptr : &*found;
}

/// What a kernel that was not seen is likely to take: the middle one of those that were.
double usual_slowdown(const std::vector<KernelSpeed>& speeds) {
    std::vector<double> slowdowns;
    for (const KernelSpeed& speed : speeds) slowdowns.push_back(speed.slowdown);
    return slowdowns.empty() ? 1 : median(std::move(slowdowns));
}

}  // namespace

std::vector<KernelSpeed> kernel_speeds(const NodeType& node, Index tile, const std::vector<KernelUse>& before,
                                       const std::vector<KernelUse>& after) {
    const WorkerGroup* cores = cores_of(node);
    std::vector<KernelSpeed> speeds;
    double all = 0;
    for (const KernelUse& until_now : after) {
        const KernelUse use = since(until_now, before);
        if (cores == nullptr || use.calls < fewest_calls || use.seconds <= 0) continue;
        const auto calls = static_cast<double>(use.calls);
        const auto expected =
            kernel_seconds(*cores, use.kernel, {.tile = tile, .flops = use.flops / calls, .bytes = use.bytes / calls});
        if (!expected || *expected <= 0) continue;
        speeds.push_back({.kernel = use.kernel, .slowdown = use.seconds / (calls * *expected), .share = use.seconds});
        all += use.seconds;
    }
    for (KernelSpeed& speed : speeds) speed.share /= all;
    return speeds;
}

SpeedExtremes speed_extremes(const std::vector<std::vector<KernelSpeed>>& nodes) {
    SpeedExtremes extremes;
    bool any = false;
    for (std::size_t node = 0; node < nodes.size(); ++node)
        for (const KernelSpeed& speed : nodes[node]) {
            if (speed.share < least_share) continue;
            const SpeedExtremes::At here{node, speed.kernel, speed.slowdown};
            if (!any || here.slowdown > extremes.slowest.slowdown) extremes.slowest = here;
            if (!any || here.slowdown < extremes.fastest.slowdown) extremes.fastest = here;
            any = true;
        }
    return extremes;
}

NodeType corrected(NodeType node, const std::vector<KernelSpeed>& speeds) {
    const double others = usual_slowdown(speeds);
    for (WorkerGroup& group : node.workers) {
        if (group.processor != Processor::cpu) continue;
        for (KernelTime& kernel : group.kernels) {
            const auto seen = std::ranges::find(speeds, kernel.kernel, &KernelSpeed::kernel);
            const double slowdown = seen != speeds.end() ? seen->slowdown : others;
            scale(kernel, slowdown < 1 ? std::sqrt(slowdown) : slowdown);
        }
    }
    return node;
}

}  // namespace tesela::plan
