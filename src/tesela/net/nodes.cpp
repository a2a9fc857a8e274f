#include "tesela/net/nodes.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/polite_wait.hpp"
#include "tesela/net/internal/communicator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <numeric>

namespace tesela {

bool started_in_parallel() { return rank_by_launcher().has_value(); }

namespace net {
namespace {

std::atomic<bool> in_use{false};
std::atomic<bool> ending{false};

std::string text_of(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    return text.data();
}

/// A program that started MPI before must have asked for what our thread and the workers do.
void check_thread_level() {
    int level = 0;
    check(MPI_Query_thread(&level), "MPI_Query_thread");
    if (level < MPI_THREAD_MULTIPLE)
        throw Error(
            "MPI was started before the engine, without MPI_THREAD_MULTIPLE: call "
            "MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level) in place of MPI_Init");
}

/// When the program ends while other nodes count on this one.
void end_if_in_use() {
    if (in_use)
        end_job("the program ended while its engine was still in use (exit, or an engine that is never destroyed)");
}

void finish_mpi() {
    int finished = 0;
    MPI_Finalized(&finished);
    if (finished == 0) check_or_end(MPI_Finalize(), "MPI_Finalize");
}

/// MPI can be started once in a process, so it ends with the process and not with the engine.
void start_mpi() {
    int started = 0;
    check(MPI_Initialized(&started), "MPI_Initialized");
    if (started != 0) {
        check_thread_level();
        return;
    }
    int level = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
    if (level < MPI_THREAD_MULTIPLE)
        throw Error("this MPI does not allow calls from several threads (MPI_THREAD_MULTIPLE)");
    if (std::atexit(finish_mpi) != 0) throw Error("cannot see to it that MPI ends with the program (atexit)");
}

#ifdef OPEN_MPI
constexpr const char* this_mpi = "Open MPI";
constexpr const char* way_of_srun = "pmix";
#else
constexpr const char* this_mpi = "MPICH";
constexpr const char* way_of_srun = "pmi2";
#endif

/// Processes that were started together and know nothing of each other would all do the whole work.
void check_company(int started) {
    if (started < 2) return;
    if (rank_by_launcher())
        throw Error(
            "{} processes were started together, but to MPI this one is alone: start them with the mpirun of {}, "
            "which this program is linked with, or by srun --mpi={}",
            started, this_mpi, way_of_srun);
    throw Error(
        "Slurm started {} tasks, and each would do the whole work: start them by srun --mpi={}, which tells them of "
        "each other (srun --mpi=list shows what there is), or one by srun -n 1. If each is to work for itself, unset "
        "SLURM_STEP_NUM_TASKS first",
        started, way_of_srun);
}

}  // namespace

void check(int code, const char* what) {
    if (code != MPI_SUCCESS) throw Error("MPI: {}: {}", what, text_of(code));
}

void check_or_end(int code, const char* what) {
    if (code != MPI_SUCCESS) end_job(fmt::format("MPI: {}: {}", what, text_of(code)));
}

void wait_politely(MPI_Request& request, const char* what) {
    int done = 0;
    for (PoliteWait wait;; wait.rest()) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
        if (done != 0) return;
    }
}

void end_job_for_all(const std::string& why) {
    // Whoever notices first says it; the others are ended by that before they say it too.
    int node = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &node);
    // A quarter of a second for each: on a machine that is busy the end takes its time.
    const int quarters = std::min(node, 8);
    const timespec moment{.tv_sec = quarters / 4, .tv_nsec = quarters % 4 * 250'000'000L};
    nanosleep(&moment, nullptr);
    end_job(why);
}

void end_job(const std::string& why) {
    if (!ending.exchange(true)) {
        int started = 0;
        int node = 0;
        MPI_Initialized(&started);
        if (started != 0) MPI_Comm_rank(MPI_COMM_WORLD, &node);
        fmt::print(stderr, "tesela: node {}: {}; the job ends\n", node, why);
        std::fflush(stderr);
        if (started != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
        const timespec moment{.tv_sec = 5, .tv_nsec = 0};  // another thread is at it
        nanosleep(&moment, nullptr);
    }
    std::_Exit(1);
}

NoExit::NoExit() {
    // Also where the program has started MPI itself; called before what was registered earlier.
    static const int registered = std::atexit(end_if_in_use);
    if (registered != 0) throw Error("cannot see to it that an early exit ends the job (atexit)");
    in_use = true;
}
NoExit::~NoExit() { in_use = false; }

Nodes::Communicator::Communicator(MPI_Comm of) {
    check(MPI_Comm_dup(of, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}
Nodes::Communicator::Communicator(const Communicator& of, OnThisMachine) {
    check(MPI_Comm_split_type(of.get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm_), "MPI_Comm_split_type");
}
Nodes::Communicator::~Communicator() { check_or_end(MPI_Comm_free(&comm_), "MPI_Comm_free"); }

Nodes::Nodes() {
    // MPI and StarPU look at the machine through hwloc, whose part for displays asks for them by the name localhost:
    // half a minute for each start where that has no address, as in a bare container.
    setenv("HWLOC_COMPONENTS", "-gl", 0);
    const int started = processes_by_launcher();
    if (!started_in_parallel()) {
        check_company(started);
        return;
    }
    start_mpi();
    check(MPI_Comm_rank(MPI_COMM_WORLD, &me_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &count_), "MPI_Comm_size");
    if (count_ == 1) check_company(started);
    communicator_ = std::make_unique<Communicator>(MPI_COMM_WORLD);
    here_ = std::make_unique<Communicator>(*communicator_, OnThisMachine{});
    check(MPI_Comm_size(here_->get(), &count_here_), "MPI_Comm_size");
    check(MPI_Comm_rank(here_->get(), &number_here_), "MPI_Comm_rank");
}
Nodes::~Nodes() = default;

bool Nodes::alike_here(const std::string& text) const {
    if (count_here_ == 1) return true;
    const std::size_t mine = std::hash<std::string>{}(text);
    std::array<std::uint64_t, 2> extremes{mine, ~std::uint64_t{mine}};
    check(MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_UINT64_T, MPI_MIN, here_->get()), "MPI_Allreduce");
    return extremes[0] == ~extremes[1];
}

void Nodes::all_or_none(const std::function<void()>& work) const {
    std::string reason;
    try {
        work();
    } catch (const std::exception& error) {
        reason = error.what();
        if (reason.empty()) reason = "an error without a reason";
    }
    int node = 0;
    for (const std::string& why : gather(reason)) {
        if (!why.empty()) throw Error("{}{}", node == me_ ? "" : fmt::format("node {}: ", node), why);
        ++node;
    }
}

std::vector<double> Nodes::gather(double value) const {
    std::vector<double> all(static_cast<std::size_t>(count_), value);
    if (!active()) return all;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(&value, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, communicator_->get(), &request),
          "MPI_Iallgather");
    wait_politely(request, "MPI_Iallgather");
    return all;
}

std::vector<std::string> Nodes::gather(const std::string& text) const {
    if (!active()) return {text};
    std::vector<int> sizes, begins(static_cast<std::size_t>(count_));
    for (const double size : gather(static_cast<double>(text.size()))) sizes.push_back(static_cast<int>(size));
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
    std::string all(static_cast<std::size_t>(begins.back() + sizes.back()), ' ');
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgatherv(text.data(), static_cast<int>(text.size()), MPI_CHAR, all.data(), sizes.data(), begins.data(),
                          MPI_CHAR, communicator_->get(), &request),
          "MPI_Iallgatherv");
    wait_politely(request, "MPI_Iallgatherv");
    std::vector<std::string> texts;
    for (std::size_t n = 0; n < sizes.size(); ++n)
        texts.push_back(all.substr(static_cast<std::size_t>(begins[n]), static_cast<std::size_t>(sizes[n])));
    return texts;
}

void Nodes::broadcast(std::span<std::byte> bytes, int from) const {
    if (!active()) return;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, communicator_->get(), &request),
          "MPI_Ibcast");
    wait_politely(request, "MPI_Ibcast");
}

std::uint64_t Nodes::broadcast(std::uint64_t value, int from) const {
    broadcast(std::as_writable_bytes(std::span{&value, 1}), from);
    return value;
}

void Nodes::meet() const {
    if (!active()) return;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(communicator_->get(), &request), "MPI_Ibarrier");
    wait_politely(request, "MPI_Ibarrier");
}

Nodes::ClockOffset Nodes::clock_offset(std::int64_t (*now)()) const {
    constexpr int rounds = 20;
    if (!active()) return {now(), 0};
    const MPI_Comm comm = communicator_->get();
    const auto send = [&](const void* data, int count, int node) {
        check(MPI_Send(data, count, MPI_INT64_T, node, 0, comm), "MPI_Send");
    };
    const auto receive = [&](void* data, int count, int node) {
        check(MPI_Recv(data, count, MPI_INT64_T, node, 0, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    };
    std::array<std::int64_t, 2> sample{now(), 0};
    if (me_ != 0) {
        for (int round = 0; round < rounds; ++round) {
            std::int64_t theirs = 0;
            receive(&theirs, 1, 0);
            const std::int64_t mine = now();
            send(&mine, 1, 0);
        }
        receive(sample.data(), 2, 0);
        return {sample[0], sample[1]};
    }
    for (int node = 1; node < count_; ++node) {
        std::int64_t fastest = std::numeric_limits<std::int64_t>::max();
        std::array<std::int64_t, 2> best{};
        for (int round = 0; round < rounds; ++round) {
            std::int64_t theirs = 0;
            const std::int64_t before = now();
            send(&before, 1, node);
            receive(&theirs, 1, node);
            const std::int64_t after = now();
            if (after - before >= fastest) continue;
            fastest = after - before;
            best = {theirs, before + fastest / 2 - theirs};
        }
        send(best.data(), 2, node);
    }
    return {sample[0], sample[1]};
}

}  // namespace net
}  // namespace tesela
