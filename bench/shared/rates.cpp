#include "shared/rates.hpp"

#include "tesela/calibration/memory_bandwidth.hpp"

#include <algorithm>
#include <cmath>

namespace tesela::bench {
namespace {

NetworkTimes better(const NetworkTimes& a, NetworkTimes b) {
    if (a.points.empty()) return b;
    b.latency = std::min(a.latency, b.latency);
    b.bandwidth = std::max(a.bandwidth, b.bandwidth);
    b.bidirectional_bandwidth = std::max(a.bidirectional_bandwidth, b.bidirectional_bandwidth);
    for (std::size_t p = 0; p < b.points.size(); ++p)
        b.points[p].seconds = std::min(a.points[p].seconds, b.points[p].seconds);
    return b;
}

}  // namespace

CopyRates MachineRates::copy() const { return {network.points.empty() ? memory : network.bandwidth, memory}; }

CopyRates MachineRates::copy_at(Index message_bytes) const {
    const auto& points = network.points;
    if (points.empty()) return copy();
    const auto above = std::ranges::find_if(points, [&](const MessageTime& p) { return p.bytes >= message_bytes; });
    if (above == points.end()) return copy();
    const auto bytes = static_cast<double>(message_bytes);
    const MessageTime below = above == points.begin() ? MessageTime{0, network.latency} : *std::prev(above);
    const double share = (bytes - static_cast<double>(below.bytes)) / static_cast<double>(above->bytes - below.bytes);
    return {bytes / std::lerp(below.seconds, above->seconds, share), memory};
}

MachineRates measure_rates(StarpuEngine& engine, int rounds) {
    constexpr Index copied = Index{64} << 20U;
    constexpr Index largest_message = Index{4} << 20U;
    MachineRates rates;
    engine.pause();
    for (int round = 0; round < rounds; ++round) {
        if (engine.is_first())
            rates.memory = std::max(rates.memory, calibration::measure_copy_bandwidth(copied, engine.worker_count()));
        if (engine.node_count() == 1) continue;
        rates.network = better(rates.network, measure_network(engine, {.largest_message = largest_message}));
    }
    rates.memory = engine.max(rates.memory);
    engine.resume();
    return rates;
}

}  // namespace tesela::bench
