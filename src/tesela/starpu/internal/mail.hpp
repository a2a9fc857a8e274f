#pragma once

#include "tesela/flow/engine.hpp"
#include "tesela/flow/message_window.hpp"
#include "tesela/net/transport.hpp"
#include "tesela/starpu/internal/tile_pool.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tesela::starpu {

class Mail;
class StreamMail;

/// A message of a stream on this node, from its submission to its end.
class Letter : public net::Message {
public:
    enum class Direction : std::uint8_t { out, in };
    struct Address {
        Direction direction = Direction::out;
        int peer = 0;
        Index bytes = 0;
        std::int32_t priority = 0;
        Index memory = 0;  ///< that it must take before it is received
    };
    explicit Letter(const Address& address) : address_(address) {}

    [[nodiscard]] const Address& address() const { return address_; }
    [[nodiscard]] bool outgoing() const { return address_.direction == Direction::out; }
    [[nodiscard]] net::Label label() const;
    [[nodiscard]] net::Transport::Ends ends() const { return ends_; }
    [[nodiscard]] StreamMail& stream() const { return *stream_; }

    /// Takes the memory that it needs; false if there is none by this claim. Called before `start`, with Mail locked.
    [[nodiscard]] virtual bool take_memory(Claim claim);
    /// The system has none: the stream has failed, and what arrives is thrown away.
    virtual void go_without_memory();
    /// Hands itself to the transport.
    virtual void start(net::Transport& transport) = 0;

private:
    friend class Mail;
    friend class StreamMail;
    Address address_;
    StreamMail* stream_ = nullptr;
    std::uint64_t number_ = 0;    // between its two nodes
    std::uint64_t position_ = 0;  // of its step in the stream
    std::uint64_t order_ = 0;     // among the letters of the stream
    bool has_memory_ = false;
    net::Transport::Ends ends_ = net::Transport::Ends::when_free;
};

/// The messages of one stream on this node.
class StreamMail {
public:
    /// `slot` is the same on every node. Letters of a stream that has failed travel empty.
    StreamMail(Mail& mail, int slot, const FailureFlag& failure);
    ~StreamMail();
    StreamMail(const StreamMail&) = delete;
    StreamMail& operator=(const StreamMail&) = delete;
    StreamMail(StreamMail&&) = delete;
    StreamMail& operator=(StreamMail&&) = delete;

    /// Numbers a message; the two nodes do it in the same order. `position`: of the step that it belongs to.
    void add(Letter& letter, std::uint64_t position);
    /// Nothing but the window and memory keep it back any more.
    void ready(Letter& letter);
    /// It has ended, with so many bytes; the letter may go.
    void ended(Letter& letter, Index bytes);

    [[nodiscard]] int slot() const { return slot_; }
    [[nodiscard]] bool failed() const { return failure_.raised(); }
    [[nodiscard]] const std::shared_ptr<PromisedMemory>& promises() const { return promises_; }

private:
    friend class Mail;
    using Window = MessageWindow<Letter*>;
    [[nodiscard]] Window& window(const Letter& letter) {
        return (letter.outgoing() ? out_ : in_)[static_cast<std::size_t>(letter.address().peer)];
    }
    Mail& mail_;
    int slot_;
    const FailureFlag& failure_;
    std::shared_ptr<PromisedMemory> promises_ = std::make_shared<PromisedMemory>();
    std::vector<Window> out_, in_;
    /// What was sent to a node since the last send that waited for it to receive.
    struct Unmatched {
        Index bytes = 0;
        Index messages = 0;
    };
    std::vector<Unmatched> unmatched_;
    std::map<std::uint64_t, Letter*> without_memory_;  // receives that have none yet, in the order of the stream
    std::uint64_t added_ = 0;
};

/// What this node sends and receives: lets messages start when their window and this node's memory allow it, and keeps
/// few sends under way (see start_next_send).
class Mail {
public:
    /// `limits`: of the messages to and from each node, whose memory comes from the pool.
    Mail(net::Transport& transport, std::vector<MessageLimits> limits, const TilePool& memory);
    ~Mail();
    Mail(const Mail&) = delete;
    Mail& operator=(const Mail&) = delete;
    Mail(Mail&&) = delete;
    Mail& operator=(Mail&&) = delete;

    [[nodiscard]] net::Transport& transport() const { return transport_; }

    /// Messages and bytes that this node has sent to each node.
    struct Sent {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] std::vector<Sent> sent() const;

private:
    friend class StreamMail;
    void add(StreamMail& stream, Letter& letter, std::uint64_t position);
    void ready(StreamMail& stream, Letter& letter);
    void ended(StreamMail& stream, Letter& letter, Index bytes);
    /// Starts what can start, until nothing can. Letters that end at once come back here; they are not nested.
    void pump();
    [[nodiscard]] Letter* next();
    [[nodiscard]] Letter* next_send();
    [[nodiscard]] Letter* next_receive();
    [[nodiscard]] static net::Transport::Ends end_of(const Letter& letter);
    [[nodiscard]] bool give_memory(StreamMail& stream, Letter& letter);
    [[nodiscard]] bool may_exceed_limit(const StreamMail& stream, const Letter& letter) const;

    net::Transport& transport_;
    std::vector<MessageLimits> limits_;
    const TilePool& memory_;
    mutable std::mutex mutex_;
    std::vector<StreamMail*> streams_;
    SendsUnderWay sends_;
    Index bytes_without_memory_ = 0;    // of receives
    std::atomic<bool> starved_{false};  // a receive waits for memory
    std::vector<Sent> sent_;
};

}  // namespace tesela::starpu
