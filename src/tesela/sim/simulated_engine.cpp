#include "tesela/sim/simulated_engine.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/sim/internal/simulation.hpp"

#include <exception>
#include <utility>

namespace tesela {
namespace {

Index checked_node_count(const Platform& platform) {
    check_platform(platform);
    return node_count(platform);
}

}  // namespace

class SimulatedEngine::Implementation {
public:
    Implementation(Platform platform, SimulationOptions options)
        : recorder(checked_node_count(platform)),
          simulation(std::move(platform), std::move(options), recorder.recording()) {}

    RecordingEngine recorder;
    sim::Simulation simulation;
};

SimulatedEngine::SimulatedEngine(Platform platform, SimulationOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(platform), std::move(options))) {}
SimulatedEngine::~SimulatedEngine() = default;

Index SimulatedEngine::node_count() const { return static_cast<Index>(implementation_->simulation.cluster().nodes()); }

int SimulatedEngine::worker_count() const {
    int workers = 0;
    for (const sim::Place& place : implementation_->simulation.cluster().places_of(0))
        workers += place.is_gpu() ? 1 : place.slots;
    return workers;
}

Index SimulatedEngine::total_workers() const {
    Index workers = 0;
    for (const NodeType& type : platform().node_types)
        for (const WorkerGroup& group : type.workers) workers += type.count * group.count;
    return workers;
}

const Platform& SimulatedEngine::platform() const { return implementation_->simulation.platform(); }
const Recording& SimulatedEngine::recording() const { return implementation_->recorder.recording(); }
SimulationResult SimulatedEngine::result() const { return implementation_->simulation.result(); }

std::unique_ptr<StreamState> SimulatedEngine::open(const StreamOptions& options) {
    auto& self = *implementation_;
    self.simulation.check_workers(options.workers);
    auto stream = self.recorder.open(options);
    self.simulation.know_streams();
    return stream;
}

std::unique_ptr<Attachment> SimulatedEngine::attach(StreamState& stream, MatrixSpec spec) {
    if (spec.distribution.nodes() > node_count())
        throw Error("matrix {} is distributed over {} nodes; the platform has {}", spec.name, spec.distribution.nodes(),
                    node_count());
    return implementation_->recorder.attach(stream, std::move(spec));
}

void SimulatedEngine::submit(StreamState& stream, const Task& task) { implementation_->recorder.submit(stream, task); }

bool SimulatedEngine::move(StreamState& stream, TileRef tile, NodeId to) {
    return implementation_->recorder.move(stream, tile, to);
}

void SimulatedEngine::exchange(StreamState& stream, const Exchange& exchange) {
    implementation_->recorder.exchange(stream, exchange);
}

void SimulatedEngine::share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) {
    implementation_->recorder.share(stream, tile, readers, priority);
}

void SimulatedEngine::retire(StreamState& stream, TileRef tile) { implementation_->recorder.retire(stream, tile); }
void SimulatedEngine::discard(StreamState& stream, TileRef tile) { implementation_->recorder.discard(stream, tile); }

void SimulatedEngine::fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) {
    implementation_->recorder.fetch(stream, tile, std::move(into));
}

Status SimulatedEngine::wait(StreamState& stream) {
    auto& self = *implementation_;
    // A stream that ends because of an error waits too; there is nothing to predict then.
    if (std::uncaught_exceptions() > 0) {
        self.simulation.skip();
        return {};
    }
    const auto wait = static_cast<std::uint32_t>(recording().waits.size());
    Status status = self.recorder.wait(stream);
    if (recording().waits.size() > wait) self.simulation.run_to(wait);
    return status;
}

void SimulatedEngine::set_workers(StreamState& stream, WorkerSet workers) {
    auto& self = *implementation_;
    self.simulation.check_workers_may_change();
    self.simulation.check_workers(workers);
    self.recorder.set_workers(stream, std::move(workers));
}

}  // namespace tesela
