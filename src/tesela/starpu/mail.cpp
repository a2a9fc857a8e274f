#include "tesela/starpu/internal/mail.hpp"

#include <algorithm>
#include <utility>

namespace tesela::starpu {

using Ends = net::Transport::Ends;

net::Label Letter::label() const { return {.peer = address_.peer, .slot = stream_->slot(), .number = number_}; }

bool Letter::take_memory(Claim) { return true; }
void Letter::go_without_memory() {}

StreamMail::StreamMail(Mail& mail, int slot, const FailureFlag& failure) : mail_(mail), slot_(slot), failure_(failure) {
    static_assert(MessageLimits{}.messages <= Index{net::Transport::numbers});
    for (const MessageLimits& limits : mail.limits_) out_.emplace_back(limits);
    in_ = out_;
    unmatched_.resize(out_.size());
    const std::lock_guard lock(mail_.mutex_);
    mail_.streams_.push_back(this);
}

StreamMail::~StreamMail() {
    const std::lock_guard lock(mail_.mutex_);
    std::erase(mail_.streams_, this);
}

void StreamMail::add(Letter& letter, std::uint64_t position) { mail_.add(*this, letter, position); }
void StreamMail::ready(Letter& letter) { mail_.ready(*this, letter); }
void StreamMail::ended(Letter& letter, Index bytes) { mail_.ended(*this, letter, bytes); }

Mail::Mail(net::Transport& transport, std::vector<MessageLimits> limits, const TilePool& memory)
    : transport_(transport),
      limits_(std::move(limits)),
      memory_(memory),
      sent_(limits_.size()) {
    transport_.set_chore([this] {
        if (starved_) pump();
    });
}
Mail::~Mail() { transport_.set_chore(nullptr); }

std::vector<Mail::Sent> Mail::sent() const {
    const std::lock_guard lock(mutex_);
    return sent_;
}

void Mail::add(StreamMail& stream, Letter& letter, std::uint64_t position) {
    const std::lock_guard lock(mutex_);
    const Letter::Address& address = letter.address_;
    letter.stream_ = &stream;
    letter.position_ = position;
    letter.order_ = stream.added_++;
    // Receives are asked for in order: which is urgent is for the sender to say.
    letter.number_ = stream.window(letter).add(&letter, address.bytes, letter.outgoing() ? address.priority : 0);
    letter.has_memory_ = address.memory == 0;
    if (letter.has_memory_) return;
    stream.without_memory_.emplace(letter.order_, &letter);
    bytes_without_memory_ += address.memory;
}

void Mail::ready(StreamMail& stream, Letter& letter) {
    {
        const std::lock_guard lock(mutex_);
        stream.window(letter).ready(letter.number_);
    }
    pump();
}

void Mail::ended(StreamMail& stream, Letter& letter, Index bytes) {
    {
        const std::lock_guard lock(mutex_);
        stream.window(letter).ended(letter.number_);
        if (letter.outgoing()) {
            --sends_.now;
            Sent& sent = sent_[static_cast<std::size_t>(letter.address_.peer)];
            ++sent.messages;
            sent.bytes += static_cast<std::uint64_t>(bytes);
        }
    }
    pump();
}

void Mail::pump() {
    thread_local bool pumping = false;
    if (pumping) return;  // the loop below goes on
    pumping = true;
    while (Letter* letter = next()) letter->start(transport_);
    pumping = false;
}

Letter* Mail::next() {
    const std::lock_guard lock(mutex_);
    if (Letter* letter = next_send()) return letter;
    return next_receive();
}

Letter* Mail::next_send() {
    const auto chosen = start_next_send<Letter*>(sends_, [this](const auto& consider) {
        for (StreamMail* stream : streams_)
            for (StreamMail::Window& window : stream->out_) consider(window);
    });
    if (!chosen) return nullptr;
    Letter& letter = **chosen;
    letter.ends_ = end_of(letter);
    return &letter;
}

/// MPI keeps small messages at the other node until somebody asks for them. So that they cannot pile up there, a send
/// waits for its receiver now and then, and with it the window.
Ends Mail::end_of(const Letter& letter) {
    const MessageLimits& window = letter.stream_->window(letter).limits();
    auto& unmatched = letter.stream_->unmatched_[static_cast<std::size_t>(letter.address_.peer)];
    unmatched.bytes += letter.address_.bytes;
    if (++unmatched.messages < window.messages / 4 && unmatched.bytes < window.bytes / 4) return Ends::when_free;
    unmatched = {};
    return Ends::when_matched;
}

Letter* Mail::next_receive() {
    bool starved = false;
    for (StreamMail* stream : streams_)
        for (StreamMail::Window& window : stream->in_) {
            if (!window.can_start()) continue;
            Letter* letter = window.next();
            if (!give_memory(*stream, *letter)) {
                starved = true;
                continue;
            }
            window.start();
            return letter;
        }
    starved_ = starved;
    return nullptr;
}

/// While all that is expected has room, in any order. Otherwise in the order of the stream: then what a receive waits
/// for is memory that earlier steps give back, and they wait for nothing later.
bool Mail::give_memory(StreamMail& stream, Letter& letter) {
    if (letter.has_memory_) return true;
    const Index bytes = letter.address_.memory;
    const bool first = stream.without_memory_.begin()->second == &letter;
    if (!first && !stream.failed() && std::cmp_less(memory_.room(), bytes_without_memory_)) return false;
    if (!letter.take_memory(Claim::within_limit)) {
        if (!may_exceed_limit(stream, letter)) return false;
        if (!letter.take_memory(Claim::needed)) letter.go_without_memory();
    }
    letter.has_memory_ = true;
    stream.without_memory_.erase(letter.order_);
    bytes_without_memory_ -= bytes;
    return true;
}

bool Mail::may_exceed_limit(const StreamMail& stream, const Letter& letter) const {
    if (stream.failed()) return true;
    const bool first = stream.without_memory_.begin()->second == &letter;
    return first && !stream.promises_->before(letter.position_);
}

}  // namespace tesela::starpu
