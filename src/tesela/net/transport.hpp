#pragma once

#include "tesela/net/nodes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tesela::net {

/// Names a message between two nodes: both count the messages of a slot between them alike, so that nothing but the
/// count has to travel. At most Transport::numbers of them may be under way at a time, from the oldest on.
struct Label {
    int peer = 0;
    int slot = 1;
    std::uint64_t number = 0;
};

/// Columns of bytes in memory, one `stride` after the other.
struct Columns {
    const void* data = nullptr;
    Index column_bytes = 0;
    Index columns = 0;
    Index stride = 0;

    [[nodiscard]] Index bytes() const { return column_bytes * columns; }
    [[nodiscard]] bool contiguous() const { return columns <= 1 || stride == column_bytes; }
};

/// A message that was handed over; it lives until it is told of its end, and may be gone when that returns.
class Message {
public:
    Message() = default;
    virtual ~Message() = default;
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
    Message(Message&&) = delete;
    Message& operator=(Message&&) = delete;

    /// Room for a message of unknown size, now that it has come. Nothing if there is none yet: it is asked again. Null
    /// if there will be none: what came is thrown away.
    [[nodiscard]] virtual std::optional<void*> room(Index bytes);
    /// It was sent, or has arrived with so many bytes. Called once, by any thread, without locks.
    virtual void ended(Index bytes) = 0;
    /// For errors: "A(3, 4), version 7".
    [[nodiscard]] virtual std::string describe() const = 0;
    /// Names what it carries, alike on both sides: it travels along and is compared.
    [[nodiscard]] virtual std::uint64_t identity() const { return 0; }
};

/// A small message about the work itself, which can come at any time.
struct Notice {
    std::uint32_t kind = 0;
    std::uint32_t detail = 0;
    std::uint64_t topic = 0;
    std::uint64_t round = 0;
    std::uint64_t position = 0;
    std::uint64_t trail = 0;
    std::int64_t value = 0;
    std::int32_t node = 0;
    std::array<char, 268> text{};  ///< for people: what is longer is cut off

    void set_text(const std::string& from);
};

/// Carries messages between the nodes by MPI: one communicator, a thread that looks after what is under way and sleeps
/// when there is little to look after. Every return code is looked at; an error that nobody could handle ends the job.
class Transport {
public:
    struct Options {
        /// The largest tag to use; 0 means what MPI allows, which is 32767 at least.
        int largest_tag = 0;
    };
    /// What is told, by the thread or by one that helps.
    struct Hooks {
        std::function<void(int from, const Notice&)> notice;
        /// Another message came than was expected, which will not end. By default the job ends.
        std::function<void(int from, const Message& expected, const std::string& why)> mistaken = end_for_mistake;
    };
    /// Every node makes one, at the same time.
    Transport(const Nodes& nodes, Hooks hooks, const Options& options);
    Transport(const Nodes& nodes, Hooks hooks) : Transport(nodes, std::move(hooks), Options{}) {}
    /// Every node, when nothing is under way any more.
    ~Transport();
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    Transport(Transport&&) = delete;
    Transport& operator=(Transport&&) = delete;

    /// Messages of a slot between two nodes that can be under way.
    static constexpr std::uint64_t numbers = 256;
    /// Slots are 1 to this.
    [[nodiscard]] int slots() const;

    /// Whether a send ends when its memory is free, or only when the other node has begun to receive it.
    enum class Ends : std::uint8_t { when_free, when_matched };
    void send(const Label& label, const Columns& memory, Ends ends, Message& message);
    /// Exactly so many bytes, or none at all. Without memory they are thrown away.
    void receive(const Label& label, void* memory, Index bytes, Message& message);
    /// As many as there are (see Message::room).
    void receive_any_size(const Label& label, Message& message);
    void notify(int node, const Notice& notice);
    /// All other nodes.
    void notify_others(const Notice& notice);

    /// Looks after what is under way, in this thread, once; for those who wait.
    void help();
    /// What the thread does beside, at each look: something may wait that no message will wake.
    void set_chore(std::function<void()> chore);

private:
    [[noreturn]] static void end_for_mistake(int from, const Message& expected, const std::string& why);
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace tesela::net
