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

/// Room for the identity of a message, where it travels along (see Message::identity).
using Header = std::unique_ptr<std::uint64_t>;
#ifdef NDEBUG
Header header_of(const Message*) { return nullptr; }
#else
Header header_of(const Message* sent) {
    return std::make_unique<std::uint64_t>(sent == nullptr ? 0 : sent->identity());
}
#endif

/// What is under way: requests of MPI's, and beside each what it is of.
struct UnderWay {
    enum class Kind : std::uint8_t { send, receive, notice };
    Kind kind = Kind::send;
    Index bytes = 0;
    Message* message = nullptr;
    std::unique_ptr<Notice> notice{};
    Header header{};
};

/// A message of unknown size that is waited for, or whose room is.
struct Expected {
    Label label;
    Message* message = nullptr;
    MPI_Message matched = MPI_MESSAGE_NULL;
    Index bytes = 0;
    Header header{};
};

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
    Implementation(const Nodes& nodes, std::function<void(int, const Notice&)> notice, const Options& options)
        : me_(nodes.me()),
          nodes_(nodes.count()),
          comm_(nodes.communicator().get()),
          hear_(std::move(notice)),
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
        Header header = header_of(&message);
        const SendType type(memory, header.get());
        MPI_Request request = MPI_REQUEST_NULL;
        check_or_end((ends == Ends::when_matched ? MPI_Issend : MPI_Isend)(
                         type.base(), type.count(), type.get(), label.peer, tag(label), comm_.get(), &request),
                     "MPI_Isend");
        int done = 0;
        check_or_end(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0)
            message.ended(memory.bytes());
        else
            add(request, {.kind = UnderWay::Kind::send,
                          .bytes = memory.bytes(),
                          .message = &message,
                          .header = std::move(header)});
    }

    void receive(const Label& label, void* memory, Index bytes, Message& message) {
        Header header = header_of(nullptr);
        const SendType type = type_into(memory, bytes, header.get());
        MPI_Request request = MPI_REQUEST_NULL;
        check_or_end(
            MPI_Irecv(type.writable_base(), type.count(), type.get(), label.peer, tag(label), comm_.get(), &request),
            "MPI_Irecv");
        add(request,
            {.kind = UnderWay::Kind::receive, .bytes = bytes, .message = &message, .header = std::move(header)});
    }

    /// Without memory they are thrown away.
    static SendType type_into(void* memory, Index bytes, std::uint64_t* header) {
        if (memory == nullptr && bytes > 0) return SendType(IntoBin{bytes}, header);
        return SendType({memory, bytes, 1, bytes}, header);
    }

    void expect(const Label& label, Message& message) {
        {
            const std::lock_guard lock(mutex_);
            new_expected_.push_back({.label = label, .message = &message});
        }
        came_.notify_one();
    }

    void notify(int node, const Notice& notice) {
        if (node == me_) return hear_(me_, notice);
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

    void wake() {
        {
            const std::lock_guard lock(mutex_);
            woken_ = true;
        }
        came_.notify_one();
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
        came_.wait_for(lock, std::chrono::nanoseconds(nanoseconds),
                       [this] { return stopping_ || woken_ || !new_.empty() || !new_expected_.empty(); });
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
            for (Expected& expected : new_expected_) expected_.push_back(std::move(expected));
            new_requests_.clear();
            new_.clear();
            new_expected_.clear();
            woken_ = false;
            found.stop = stopping_ && requests_.empty() && expected_.empty();
            chore = chore_;
        }
        found.ended += look_at_notices();
        found.ended += look_at_expected();
        found.ended += look_at_requests();
        if (chore) chore();
        for (const UnderWay& what : under_way_) found.sends += what.kind == UnderWay::Kind::receive ? 0 : 1;
        found.under_way = under_way_.size() + expected_.size();
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
            hear_(status.MPI_SOURCE, notice);
            ++count;
        }
    }

    int look_at_expected() {
        int count = 0;
        std::erase_if(expected_, [&](Expected& expected) {
            if (expected.matched == MPI_MESSAGE_NULL) {
                int come = 0;
                MPI_Status status;
                check_or_end(MPI_Improbe(expected.label.peer, tag(expected.label), comm_.get(), &come,
                                         &expected.matched, &status),
                             "MPI_Improbe");
                if (come == 0) return false;
                expected.header = header_of(nullptr);
                expected.bytes = bytes_of(status) - (expected.header ? Index{sizeof(std::uint64_t)} : 0);
            }
            const std::optional<void*> room =
                expected.bytes == 0 ? std::optional<void*>(nullptr) : expected.message->room(expected.bytes);
            if (!room) return false;
            const SendType type = type_into(*room, expected.bytes, expected.header.get());
            MPI_Request request = MPI_REQUEST_NULL;
            check_or_end(MPI_Imrecv(type.writable_base(), type.count(), type.get(), &expected.matched, &request),
                         "MPI_Imrecv");
            requests_.push_back(request);
            under_way_.push_back({.kind = UnderWay::Kind::receive,
                                  .bytes = expected.bytes,
                                  .message = expected.message,
                                  .header = std::move(expected.header)});
            ++count;
            return true;
        });
        return count;
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
        std::vector<std::pair<UnderWay, Index>> ended;
        for (int k = 0; k < count; ++k) {
            const auto at = static_cast<std::size_t>(indices_[static_cast<std::size_t>(k)]);
            UnderWay& what = under_way_[at];
            const Index bytes = what.kind == UnderWay::Kind::receive
                                    ? checked_bytes(statuses_[static_cast<std::size_t>(k)], what)
                                    : what.bytes;
            ended.emplace_back(std::move(what), bytes);
        }
        remove_ended();
        for (auto& [what, bytes] : ended)
            if (what.message != nullptr) what.message->ended(bytes);
        return count;
    }

    /// What arrives is what is expected, or nothing (of a stream that failed).
    static Index checked_bytes(const MPI_Status& status, const UnderWay& what) {
        const Index bytes = bytes_of(status) - (what.header ? Index{sizeof(std::uint64_t)} : 0);
        if (what.header && *what.header != what.message->identity())
            end_job(
                fmt::format("node {} sent {:#x} where {:#x} was expected ({}): the nodes do not submit the same stream",
                            status.MPI_SOURCE, *what.header, what.message->identity(), what.message->describe()));
        if (bytes != what.bytes && bytes != 0)
            end_job(
                fmt::format("a message of {} bytes came from node {} where {} bytes were expected ({}): the nodes do "
                            "not submit the same stream",
                            bytes, status.MPI_SOURCE, what.bytes, what.message->describe()));
        return bytes;
    }

    void end_for_status(int count) const {
        for (int k = 0; k < count; ++k) {
            const MPI_Status& status = statuses_[static_cast<std::size_t>(k)];
            if (status.MPI_ERROR == MPI_SUCCESS || status.MPI_ERROR == MPI_ERR_PENDING) continue;
            const auto at = static_cast<std::size_t>(indices_[static_cast<std::size_t>(k)]);
            const Message* message = under_way_[at].message;
            const std::string what = message == nullptr ? "a notice" : message->describe();
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
    std::function<void(int, const Notice&)> hear_;
    int largest_tag_;

    std::mutex mutex_;
    std::condition_variable came_;
    std::vector<MPI_Request> new_requests_;
    std::vector<UnderWay> new_;
    std::vector<Expected> new_expected_;
    std::function<void()> chore_;
    bool stopping_ = false;
    bool woken_ = false;

    std::mutex looking_;  // what follows is of who looks
    std::vector<MPI_Request> requests_;
    std::vector<UnderWay> under_way_;
    std::vector<Expected> expected_;
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
    MPI_Request listening_ = MPI_REQUEST_NULL;
    Notice heard_;

    std::thread thread_;
};

Transport::Transport(const Nodes& nodes, std::function<void(int, const Notice&)> notice, const Options& options)
    : implementation_(std::make_unique<Implementation>(nodes, std::move(notice), options)) {}
Transport::~Transport() = default;
int Transport::slots() const { return implementation_->slots(); }
void Transport::send(const Label& label, const Columns& memory, Ends ends, Message& message) {
    implementation_->send(label, memory, ends, message);
}
void Transport::receive(const Label& label, void* memory, Index bytes, Message& message) {
    implementation_->receive(label, memory, bytes, message);
}
void Transport::receive_any_size(const Label& label, Message& message) { implementation_->expect(label, message); }
void Transport::notify(int node, const Notice& notice) { implementation_->notify(node, notice); }
void Transport::notify_others(const Notice& notice) { implementation_->notify_others(notice); }
void Transport::help() { implementation_->help(); }
void Transport::wake() { implementation_->wake(); }
void Transport::set_chore(std::function<void()> chore) { implementation_->set_chore(std::move(chore)); }

}  // namespace tesela::net
