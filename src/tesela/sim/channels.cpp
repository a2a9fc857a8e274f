#include "tesela/sim/internal/channels.hpp"

namespace tesela::sim {

void Channels::begin(const Section& section) {
    section_ = &section;
    for (Sender& sender : senders_) sender.windows.clear();
    numbered_.assign(section.vertices.size(), {});
    for (std::uint32_t v = 0; v < section.vertices.size(); ++v) {
        const Vertex& vertex = section.vertices[v];
        if (!vertex.message()) continue;
        Window& window = window_of(vertex);
        numbered_[v] = {&window, window.add(v, static_cast<Index>(vertex.bytes), vertex.priority)};
    }
}

Channels::Window& Channels::window_of(const Vertex& message) {
    auto& windows = senders_[static_cast<std::size_t>(message.node)].windows;
    const std::pair key{message.stream, message.to};
    const auto found = windows.find(key);
    if (found != windows.end()) return found->second;
    const auto limits = MessageLimits::between(cluster_.type(message.node).memory, cluster_.type(message.to).memory,
                                               static_cast<Index>(cluster_.nodes()));
    return windows.try_emplace(key, limits).first->second;
}

std::span<const std::uint32_t> Channels::ready(std::uint32_t message) {
    going_.clear();
    const auto [window, number] = numbered_[message];
    window->ready(number);
    let_go(sender_of(message), *window);
    return going_;
}

std::span<const std::uint32_t> Channels::arrived(std::uint32_t message) {
    going_.clear();
    const auto [window, number] = numbered_[message];
    window->ended(number);
    Sender& sender = sender_of(message);
    --sender.sends.now;
    if (sender.more_wait)
        let_go(sender);
    else
        let_go(sender, *window);
    return going_;
}

/// Nothing but this window has changed: no other send of the node could go before, or all wait for others to end.
void Channels::let_go(Sender& sender, Window& changed) {
    while (const auto v =
               start_next_send<std::uint32_t>(sender.sends, [&](const auto& consider) { consider(changed); }))
        going_.push_back(*v);
    sender.more_wait |= sender.sends.enough();
}

void Channels::let_go(Sender& sender) {
    while (const auto v = start_next_send<std::uint32_t>(sender.sends, [&](const auto& consider) {
               for (auto& [key, window] : sender.windows) consider(window);
           }))
        going_.push_back(*v);
    sender.more_wait = sender.sends.enough();
}

}  // namespace tesela::sim
