#pragma once

// The messages of a random stream as a recording lists them and as a simulation sends them.

#include "support/random_stream.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace tesela::testing {

/// Equal nodes on one switch, which can run the kernels of random streams.
inline Platform plain_platform(Index nodes) {
    std::vector<KernelTime> kernels;
    for (const std::string& name : StepKernels::names())
        kernels.push_back(
            {.kernel = name, .time = RatedKernel{.rate = 1e9, .unit = RateUnit::elements, .efficiency = {}}});
    return {.name = "plain",
            .node_types = {{.name = "node",
                            .count = nodes,
                            .memory = 1e12,
                            .memory_bandwidth = 1e11,
                            .nic = {1e9, 1e-5},
                            .workers = {{.name = "cores", .count = 2, .kernels = kernels}}}},
            .subnets = {}};
}

inline std::multiset<Transfer> recorded_messages(const RandomStream& stream, Index nodes) {
    RecordingEngine recorder(nodes);
    (void)play(recorder, stream);
    const std::vector<Transfer> list = list_transfers(recorder.recording());
    return {list.begin(), list.end()};
}

inline std::multiset<Transfer> simulated_messages(const RandomStream& stream, Index nodes) {
    Schedule schedule;
    {
        SimulationOptions options;
        options.observers.push_back(&schedule);
        SimulatedEngine simulator(plain_platform(nodes), options);
        (void)play(simulator, stream);
    }
    std::multiset<Transfer> all;
    for (const ScheduledMessage& m : schedule.messages)
        all.insert({.datum = m.carries == ScheduledMessage::Carries::parcel ? Transfer::parcel : m.datum,
                    .version = m.version,
                    .from = m.from,
                    .to = m.to,
                    .bytes = m.bytes});
    return all;
}

/// A message by what people call it: what a trace can say of it too.
struct NamedMessage {
    std::string matrix;  ///< "parcels" for those of an exchange
    TileIndex tile{};    ///< of a parcel: its number, and 0
    std::uint32_t version = 0;
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::uint64_t bytes = 0;
    friend auto operator<=>(const NamedMessage&, const NamedMessage&) = default;
};

inline std::multiset<NamedMessage> named_messages(const RandomStream& stream, Index nodes) {
    constexpr std::uint32_t versions = 1U << 15U;  // that a trace tells apart
    RecordingEngine recorder(nodes);
    (void)play(recorder, stream);
    const Recording& recording = recorder.recording();
    std::multiset<NamedMessage> all;
    for (const Transfer& message : list_transfers(recording)) {
        NamedMessage named{.from = message.from, .to = message.to, .bytes = static_cast<std::uint64_t>(message.bytes)};
        if (message.datum == Transfer::parcel) {
            named.matrix = "parcels";
            named.tile = {static_cast<Index>(message.version), 0};
        } else {
            const RecordedDatum& datum = recording.data[static_cast<std::size_t>(message.datum)];
            named.matrix = recording.matrices[static_cast<std::size_t>(datum.matrix)];
            named.tile = datum.index;
            named.version = message.version % versions;
        }
        all.insert(named);
    }
    return all;
}

inline std::string difference(const std::multiset<Transfer>& a, const std::multiset<Transfer>& b) {
    std::vector<Transfer> only;
    std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
    if (only.empty()) return {};
    const Transfer& first = only.front();
    return fmt::format("{} of {} and {} messages differ, such as datum {} version {} from {} to {}, {} bytes; ",
                       only.size(), a.size(), b.size(), first.datum, first.version, first.from, first.to, first.bytes);
}

}  // namespace tesela::testing
