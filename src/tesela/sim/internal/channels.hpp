#pragma once

#include "tesela/flow/message_window.hpp"
#include "tesela/sim/internal/cluster.hpp"
#include "tesela/sim/internal/section.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace tesela::sim {

/// The messages of a section: which of those that are ready may go, by the windows of streams and pairs of nodes and
/// by how many sends of a node are under way.
class Channels {
public:
    explicit Channels(const Cluster& cluster) : cluster_(cluster), senders_(cluster.nodes()) {}

    /// Numbers the messages as the nodes do that submit them.
    void begin(const Section& section);
    /// What a message carries is in main memory. Returns those that go now; valid until the next call.
    [[nodiscard]] std::span<const std::uint32_t> ready(std::uint32_t message);
    /// A message has arrived. Returns those that go now; valid until the next call.
    [[nodiscard]] std::span<const std::uint32_t> arrived(std::uint32_t message);

private:
    using Window = MessageWindow<std::uint32_t>;
    struct Sender {
        std::map<std::pair<std::uint16_t, std::int32_t>, Window> windows{};  // by stream and target
        SendsUnderWay sends{};
        bool more_wait = false;  // could go if fewer were under way
    };
    struct Numbered {
        Window* window = nullptr;
        std::uint64_t number = 0;
    };
    [[nodiscard]] Window& window_of(const Vertex& message);
    [[nodiscard]] Sender& sender_of(std::uint32_t message) {
        return senders_[static_cast<std::size_t>(section_->vertices[message].node)];
    }
    void let_go(Sender& sender, Window& changed);
    void let_go(Sender& sender);

    const Cluster& cluster_;
    const Section* section_ = nullptr;
    std::vector<Sender> senders_;     // per node
    std::vector<Numbered> numbered_;  // per vertex
    std::vector<std::uint32_t> going_;
};

}  // namespace tesela::sim
