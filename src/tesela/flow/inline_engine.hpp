#pragma once

#include "tesela/flow/engine.hpp"

#include <memory>
#include <vector>

namespace tesela {

/// The oracle: runs each task when it is submitted, in the caller's thread, with all data in this process. It may play
/// any number of nodes, so that distributions can be tried without starting them.
class InlineEngine final : public Engine {
public:
    explicit InlineEngine(Index nodes = 1, TileChecks checks = usual_checks) : nodes_(nodes), checks_(checks) {}

    [[nodiscard]] NodeId this_node() const override { return NodeId{0}; }
    [[nodiscard]] Index node_count() const override { return nodes_; }
    [[nodiscard]] int worker_count() const override { return 1; }

    std::unique_ptr<StreamState> open(const StreamOptions& options) override;
    std::unique_ptr<Attachment> attach(StreamState& stream, MatrixSpec spec) override;
    void submit(StreamState& stream, const Task& task) override;
    bool move(StreamState& stream, TileRef tile, NodeId to) override;
    void exchange(StreamState& stream, const Exchange& exchange) override;
    void share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) override;
    void retire(StreamState& stream, TileRef tile) override;
    void discard(StreamState& stream, TileRef tile) override;
    void fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) override;
    Status wait(StreamState& stream) override;
    void set_workers(StreamState& stream, WorkerSet workers) override;

private:
    Index nodes_;
    TileChecks checks_;
    std::vector<ResourceLimit> resources_;
};

}  // namespace tesela
