#include "tesela/net/transport.hpp"

#include "tesela/base/error.hpp"
#include "tesela/net/internal/communicator.hpp"
#include "tesela/net/internal/large_type.hpp"

#include <mpi.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace tesela::net {
namespace {

constexpr int notice_tag = 0;
static_assert(std::is_trivially_copyable_v<Notice>);

void sleep_for(long nanoseconds) {
    const timespec moment{.tv_sec = 0, .tv_nsec = nanoseconds};
    nanosleep(&moment, nullptr);
}

int largest_tag_of(MPI_Comm comm) {
    void* value = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &found), "MPI_Comm_get_attr");
    return found != 0 ? *static_cast<int*>(value) : 32767;
}

/// What goes before the bytes of a message: which it is and how many they are. Few bytes travel in it. More come behind
/// it, as they are, since MPI carries memory in one piece best; and they are received when the envelope has been looked
/// at, since a message that is longer than what is asked for would be told of by MPI too late: Open MPI writes beyond
/// it.
struct Envelope {
    static constexpr Index small = 960;
    std::uint64_t identity;
    Index bytes;
    std::array<std::byte, small> inside;

    static constexpr Index empty_bytes = sizeof(identity) + sizeof(bytes);
};
static_assert(std::is_trivially_copyable_v<Envelope> && sizeof(Envelope) == Envelope::empty_bytes + Envelope::small);

/// A message from the moment it is handed over: what of it is under way.
struct Passage {
    Passage(const Label& its_label, Message& its_message) : label(its_label), message(&its_message) {}

    /// Whether bytes come behind the envelope.
    [[nodiscard]] bool has_more() const { return envelope.bytes > Envelope::small; }

    Label label;
    Message* message;
    std::optional<Index> expected;  // bytes of a receive, where they are known beforehand
    void* memory = nullptr;         // of a receive; null throws the bytes away
    int parts = 1;                  // that have not ended
    Envelope envelope;
};

/// Requests of MPI's are under way, and beside each stands what it is of.
struct UnderWay {
    enum class Kind : std::uint8_t { send, envelope, bytes, notice };
    Kind kind = Kind::send;
    Passage* passage = nullptr;
    std::unique_ptr<Notice> notice{};
};

/// Copies columns to where they stand without gaps.
void pack(const Columns& from, std::byte* to) {
    for (Index j = 0; j < from.columns && from.column_bytes > 0; ++j)
        std::memcpy(to + j * from.column_bytes, static_cast<const std::byte*>(from.data) + j * from.stride,
                    static_cast<std::size_t>(from.column_bytes));
}

/// Without memory they are thrown away.
SendType type_into(void* memory, Index bytes) {
    if (memory == nullptr && bytes > 0) return SendType(IntoBin{bytes});
    return SendType({memory, bytes, 1, bytes});
}

Index bytes_of(const MPI_Status& status) {
    MPI_Count bytes = 0;
    check_or_end(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
    return bytes;
}

}  // namespace

std::optional<void*> Message::room(Index) { return std::nullopt; }

void Notice::set_text(const std::string& from) {
    text.fill('\0');
    std::copy_n(from.begin(), std::min(from.size(), text.size() - 1), text.begin());
}

class Transport::Implementation {
public:
    Implementation(const Nodes& nodes, Hooks hooks, const Options& options)
        : me_(nodes.me()),
          nodes_(nodes.count()),
          comm_(nodes.communicator().get()),
          hooks_(std::move(hooks)),
          largest_tag_(options.largest_tag == 0 ? largest_tag_of(comm_.get()) : options.largest_tag) {
        constexpr int fewest = 2 * static_cast<int>(numbers) - 1;
        if (largest_tag_ < fewest || largest_tag_ > largest_tag_of(comm_.get()))
            throw Error("the largest tag must be from {} to {}, not {}", fewest, largest_tag_of(comm_.get()),
                        options.largest_tag);
        listen();
        try {
            thread_ = std::thread([this] { work(); });
        } catch (const std::system_error& error) {
            stop_listening();
            throw Error("there is no memory for one more thread, or too many run already: {}", error.what());
        }
    }

    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;
    ~Implementation() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        came_.notify_one();
        thread_.join();
        stop_listening();  // all have said what they had to say, and it has been heard
    }

    [[nodiscard]] int slots() const {
        return static_cast<int>((std::int64_t{largest_tag_} + 1) / static_cast<std::int64_t>(numbers) - 1);
    }

    void send(const Label& label, const Columns& memory, Ends ends, Message& message) {
        auto passage = std::make_unique<Passage>(label, message);
        Envelope& envelope = passage->envelope;
        envelope.identity = message.identity();
        envelope.bytes = memory.bytes();
        const bool more = passage->has_more();
        if (!more) pack(memory, envelope.inside.data());
        std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        check_or_end((ends == Ends::when_matched && !more ? MPI_Issend : MPI_Isend)(
                         &envelope, static_cast<int>(Envelope::empty_bytes + (more ? 0 : envelope.bytes)), MPI_BYTE,
                         label.peer, tag(label), comm_.get(), requests.data()),
                     "MPI_Isend");
        if (more) {
            const SendType type(memory);
            check_or_end((ends == Ends::when_matched ? MPI_Issend : MPI_Isend)(
                             type.base(), type.count(), type.get(), label.peer, tag(label), comm_.get(), &requests[1]),
                         "MPI_Isend");
        }
        int done = 0;
        for (MPI_Request& request : requests) check_or_end(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        passage->parts = 0;
        for (const MPI_Request request : requests) passage->parts += request == MPI_REQUEST_NULL ? 0 : 1;
        if (passage->parts == 0) return message.ended(memory.bytes());
        Passage* const of = passage.release();
        for (const MPI_Request request : requests)
            if (request != MPI_REQUEST_NULL) add(request, {.kind = UnderWay::Kind::send, .passage = of});
    }

    void receive(const Label& label, std::optional<Index> bytes, void* memory, Message& message) {
        auto* passage = new Passage(label, message);
        passage->expected = bytes;
        passage->memory = memory;
        // There is room for bytes in it, whatever is expected.
        MPI_Request request = MPI_REQUEST_NULL;
        check_or_end(
            MPI_Irecv(&passage->envelope, sizeof(Envelope), MPI_BYTE, label.peer, tag(label), comm_.get(), &request),
            "MPI_Irecv");
        add(request, {.kind = UnderWay::Kind::envelope, .passage = passage});
    }

    void notify(int node, const Notice& notice) {
        if (node == me_) return hooks_.notice(me_, notice);
        auto copy = std::make_unique<Notice>(notice);
        MPI_Request request = MPI_REQUEST_NULL;
        check_or_end(MPI_Isend(copy.get(), sizeof(Notice), MPI_BYTE, node, notice_tag, comm_.get(), &request),
                     "MPI_Isend");
        add(request, {.kind = UnderWay::Kind::notice, .notice = std::move(copy)});
    }

    void notify_others(const Notice& notice) {
        for (int node = 0; node < nodes_; ++node)
            if (node != me_) notify(node, notice);
    }

    void help() {
        const std::unique_lock looking(looking_, std::try_to_lock);
        if (looking) look();
    }

    void set_chore(std::function<void()> chore) {
        const std::lock_guard looking(looking_);  // nobody is in the old one when this returns
        const std::lock_guard lock(mutex_);
        chore_ = std::move(chore);
    }

private:
    [[nodiscard]] static int tag(const Label& label) {
        return label.slot * static_cast<int>(numbers) + static_cast<int>(label.number % numbers);
    }

    void add(MPI_Request request, UnderWay what) {
        {
            const std::lock_guard lock(mutex_);
            new_requests_.push_back(request);
            new_.push_back(std::move(what));
        }
        came_.notify_one();
    }

    void listen() {
        check_or_end(MPI_Irecv(&heard_, sizeof(Notice), MPI_BYTE, MPI_ANY_SOURCE, notice_tag, comm_.get(), &listening_),
                     "MPI_Irecv");
    }

    void stop_listening() {
        check_or_end(MPI_Cancel(&listening_), "MPI_Cancel");
        check_or_end(MPI_Wait(&listening_, MPI_STATUS_IGNORE), "MPI_Wait");
    }

    /// The thread: looks often while sends are under way or something happens, more rarely the longer nothing does.
    void work() {
        prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // otherwise a short sleep lasts 50 µs longer
        constexpr long shortest = 20'000;                 // ns
        constexpr long longest_while_messages = 400'000;
        constexpr long longest = 2'000'000;
        long pause = shortest;
        while (true) {
            Found found;
            {
                const std::lock_guard looking(looking_);
                found = look();
            }
            if (found.stop) return;
            if (found.ended > 0)
                pause = shortest;
            else
                pause = std::min(pause * 3 / 2, found.sends > 0       ? shortest * 2
                                                : found.under_way > 0 ? longest_while_messages
                                                                      : longest);
            if (found.ended == 0) rest(pause);
        }
    }

    /// Sleeps, or until something new has come.
    void rest(long nanoseconds) {
        if (nanoseconds <= 50'000) return sleep_for(nanoseconds);
        std::unique_lock lock(mutex_);
        came_.wait_for(lock, std::chrono::nanoseconds(nanoseconds), [this] { return stopping_ || !new_.empty(); });
    }

    struct Found {
        int ended = 0;
        std::size_t sends = 0;
        std::size_t under_way = 0;
        bool stop = false;
    };

    /// One look at everything under way; who calls it holds `looking_`.
    Found look() {
        Found found;
        std::function<void()> chore;
        {
            const std::lock_guard lock(mutex_);
            requests_.insert(requests_.end(), new_requests_.begin(), new_requests_.end());
            for (UnderWay& what : new_) under_way_.push_back(std::move(what));
            new_requests_.clear();
            new_.clear();
            found.stop = stopping_ && requests_.empty() && roomless_.empty();
            chore = chore_;
        }
        found.ended += look_at_notices();
        found.ended += look_at_roomless();
        found.ended += look_at_requests();
        if (chore) chore();
        for (const UnderWay& what : under_way_)
            if (what.kind == UnderWay::Kind::send || what.kind == UnderWay::Kind::notice) ++found.sends;
        found.under_way = under_way_.size() + roomless_.size();
        return found;
    }

    int look_at_notices() {
        int count = 0;
        while (true) {
            int done = 0;
            MPI_Status status;
            check_or_end(MPI_Test(&listening_, &done, &status), "MPI_Test");
            if (done == 0) return count;
            const Notice notice = heard_;
            listen();
            hooks_.notice(status.MPI_SOURCE, notice);
            ++count;
        }
    }

    int look_at_roomless() {
        return static_cast<int>(std::erase_if(roomless_, [&](Passage* passage) {
            const std::optional<void*> room = passage->message->room(passage->envelope.bytes);
            if (!room) return false;
            passage->memory = *room;
            receive_rest(*passage);
            return true;
        }));
    }

    int look_at_requests() {
        if (requests_.empty()) return 0;
        int count = 0;
        indices_.resize(requests_.size());
        statuses_.resize(requests_.size());
        const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(),
                                      statuses_.data());
        if (code == MPI_ERR_IN_STATUS) end_for_status(count);
        check_or_end(code, "MPI_Testsome");
        if (count == MPI_UNDEFINED || count == 0) return 0;
        std::vector<std::pair<UnderWay, MPI_Status>> ended;
        for (int k = 0; k < count; ++k) {
            const auto at = static_cast<std::size_t>(indices_[static_cast<std::size_t>(k)]);
            ended.emplace_back(std::move(under_way_[at]), statuses_[static_cast<std::size_t>(k)]);
        }
        remove_ended();
        for (const auto& [what, status] : ended) {
            if (what.kind == UnderWay::Kind::envelope) envelope_came(*what.passage);
            if (what.kind == UnderWay::Kind::bytes && bytes_of(status) != what.passage->envelope.bytes)
                end_job(fmt::format("{} bytes came of {} that were sent ({})", bytes_of(status),
                                    what.passage->envelope.bytes, what.passage->message->describe()));
            if (what.kind == UnderWay::Kind::bytes || what.kind == UnderWay::Kind::send) part_ended(*what.passage);
        }
        return count;
    }

    /// What arrives is what is expected, or nothing (of a stream that failed). Otherwise it does not end: somebody ends
    /// the job.
    void envelope_came(Passage& passage) {
        const Message& expected = *passage.message;
        const Index bytes = passage.envelope.bytes;
        std::string mistake;
        if (passage.envelope.identity != expected.identity())
            mistake = fmt::format("another message, of {} bytes, in place of {}", bytes, expected.describe());
        else if (passage.expected && bytes != *passage.expected && bytes != 0)
            mistake = fmt::format("{} bytes of {} in place of {}", bytes, expected.describe(), *passage.expected);
        if (!mistake.empty()) {
            const std::unique_ptr<Passage> last(&passage);
            return hooks_.mistaken(passage.label.peer, expected,
                                   fmt::format("node {} sent {}: {}", passage.label.peer, mistake, rule_for_nodes));
        }
        if (!passage.expected && bytes > 0)
            roomless_.push_back(&passage);
        else
            receive_rest(passage);
    }

    /// The envelope is right, and there is memory for what it says.
    void receive_rest(Passage& passage) {
        const Index bytes = passage.envelope.bytes;
        if (!passage.has_more()) {
            if (passage.memory != nullptr && bytes > 0)
                std::memcpy(passage.memory, passage.envelope.inside.data(), static_cast<std::size_t>(bytes));
            return part_ended(passage);
        }
        const SendType type = type_into(passage.memory, bytes);
        MPI_Request request = MPI_REQUEST_NULL;
        check_or_end(MPI_Irecv(type.writable_base(), type.count(), type.get(), passage.label.peer, tag(passage.label),
                               comm_.get(), &request),
                     "MPI_Irecv");
        requests_.push_back(request);
        under_way_.push_back({.kind = UnderWay::Kind::bytes, .passage = &passage});
    }

    static void part_ended(Passage& passage) {
        if (--passage.parts > 0) return;
        const std::unique_ptr<Passage> last(&passage);
        last->message->ended(last->envelope.bytes);
    }

    void end_for_status(int count) const {
        for (int k = 0; k < count; ++k) {
            const MPI_Status& status = statuses_[static_cast<std::size_t>(k)];
            if (status.MPI_ERROR == MPI_SUCCESS || status.MPI_ERROR == MPI_ERR_PENDING) continue;
            const auto at = static_cast<std::size_t>(indices_[static_cast<std::size_t>(k)]);
            const Passage* passage = under_way_[at].passage;
            const std::string what = passage == nullptr ? "a notice" : passage->message->describe();
            check_or_end(status.MPI_ERROR, what.c_str());
        }
    }

    void remove_ended() {
        std::size_t kept = 0;
        for (std::size_t r = 0; r < requests_.size(); ++r) {
            if (requests_[r] == MPI_REQUEST_NULL) continue;
            if (kept != r) {
                requests_[kept] = requests_[r];
                under_way_[kept] = std::move(under_way_[r]);
            }
            ++kept;
        }
        requests_.resize(kept);
        under_way_.resize(kept);
    }

    int me_;
    int nodes_;
    Nodes::Communicator comm_;
    Hooks hooks_;
    int largest_tag_;

    std::mutex mutex_;
    std::condition_variable came_;
    std::vector<MPI_Request> new_requests_;
    std::vector<UnderWay> new_;
    std::function<void()> chore_;
    bool stopping_ = false;

    std::mutex looking_;  // what follows is of who looks
    std::vector<MPI_Request> requests_;
    std::vector<UnderWay> under_way_;
    std::vector<Passage*> roomless_;  // their envelopes have come, and they wait for room
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
    MPI_Request listening_ = MPI_REQUEST_NULL;
    Notice heard_;

    std::thread thread_;
};

Transport::Transport(const Nodes& nodes, Hooks hooks, const Options& options)
    : implementation_(std::make_unique<Implementation>(nodes, std::move(hooks), options)) {}
Transport::~Transport() = default;
int Transport::slots() const { return implementation_->slots(); }
void Transport::send(const Label& label, const Columns& memory, Ends ends, Message& message) {
    implementation_->send(label, memory, ends, message);
}
void Transport::receive(const Label& label, void* memory, Index bytes, Message& message) {
    implementation_->receive(label, bytes, memory, message);
}
void Transport::receive_any_size(const Label& label, Message& message) {
    implementation_->receive(label, std::nullopt, nullptr, message);
}
void Transport::end_for_mistake(int, const Message&, const std::string& why) { end_job(why); }
void Transport::notify(int node, const Notice& notice) { implementation_->notify(node, notice); }
void Transport::notify_others(const Notice& notice) { implementation_->notify_others(notice); }
void Transport::help() { implementation_->help(); }
void Transport::set_chore(std::function<void()> chore) { implementation_->set_chore(std::move(chore)); }

}  // namespace tesela::net
