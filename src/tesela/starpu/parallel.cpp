#include "tesela/starpu/internal/parallel.hpp"

#include "tesela/base/error.hpp"
#include "tesela/starpu/engine.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <functional>

namespace tesela {

bool started_in_parallel() {
    // Set for each process by Open MPI's mpirun, by PMIx (srun --mpi=pmix) and by PMI (srun, Hydra).
    const std::array<const char*, 3> variables{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    return std::any_of(variables.begin(), variables.end(), [](const char* v) { return std::getenv(v) != nullptr; });
}

namespace starpu {

void check_mpi(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw Error("MPI: {}: {}", what, text.data());
}

namespace {

/// A program that started MPI before must have asked for what StarPU-MPI's thread and the workers do.
void check_thread_level() {
    int level = 0;
    check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
    if (level < MPI_THREAD_MULTIPLE)
        throw Error(
            "MPI was started before the engine, without MPI_THREAD_MULTIPLE: call "
            "MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level) in place of MPI_Init");
}

/// MPI can be started once in a process, so it ends with the process and not with the engine.
void start_mpi() {
    int started = 0;
    check_mpi(MPI_Initialized(&started), "MPI_Initialized");
    if (started != 0) {
        check_thread_level();
        return;
    }
    int level = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
    if (level < MPI_THREAD_MULTIPLE)
        throw Error("this MPI does not allow calls from several threads (MPI_THREAD_MULTIPLE)");
    std::atexit([] {
        int finished = 0;
        MPI_Finalized(&finished);
        if (finished == 0) MPI_Finalize();
    });
}

/// The nodes on this machine, while it lives; every node makes one.
class NodesHere {
public:
    NodesHere() {
        check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm_),
                  "MPI_Comm_split_type");
    }
    ~NodesHere() { MPI_Comm_free(&comm_); }
    NodesHere(const NodesHere&) = delete;
    NodesHere& operator=(const NodesHere&) = delete;
    NodesHere(NodesHere&&) = delete;
    NodesHere& operator=(NodesHere&&) = delete;
    [[nodiscard]] MPI_Comm get() const { return comm_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Waits without keeping a core busy.
void wait_politely(MPI_Request request) {
    int done = 0;
    while (true) {
        check_mpi(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) return;
        const timespec moment{.tv_sec = 0, .tv_nsec = 20'000};
        nanosleep(&moment, nullptr);
    }
}

}  // namespace

Parallel::Parallel() : active_(started_in_parallel()) {
    if (!active_) return;
    start_mpi();
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &node_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &nodes_), "MPI_Comm_size");
    const NodesHere here;
    check_mpi(MPI_Comm_size(here.get(), &nodes_here_), "MPI_Comm_size");
    check_mpi(MPI_Comm_rank(here.get(), &number_here_), "MPI_Comm_rank");
    active_ = nodes_ > 1;
}

MPI_Comm Parallel::duplicate() const {
    if (!active_) return MPI_COMM_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "MPI_Comm_dup");
    return copy;
}

Status Parallel::agree(MPI_Comm comm, const Status& status) const {
    if (!active_) return status;
    // Smallest pivot first; a node without a failure brings the largest number. The kind of failure follows in the
    // low digits, so one MIN settles both.
    constexpr Index kinds = 8;
    const Index none = std::numeric_limits<Index>::max();
    const Index mine = status.ok() ? none : status.index * kinds + static_cast<Index>(status.failure);
    Index first = none;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallreduce(&mine, &first, 1, MPI_INT64_T, MPI_MIN, comm, &request), "MPI_Iallreduce");
    wait_politely(request);
    return first == none ? Status{} : Status{static_cast<Failure>(first % kinds), first / kinds};
}

bool Parallel::alike_here(const std::string& text) const {
    if (nodes_here_ == 1) return true;
    const NodesHere here;
    const std::size_t mine = std::hash<std::string>{}(text);
    std::array<std::uint64_t, 2> extremes{mine, ~std::uint64_t{mine}};
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_UINT64_T, MPI_MIN, here.get()), "MPI_Allreduce");
    return extremes[0] == ~extremes[1];
}

double Parallel::max(double value) const {
    const std::vector<double> all = gather(value);
    return *std::max_element(all.begin(), all.end());
}

std::vector<double> Parallel::gather(double value) const {
    std::vector<double> all(static_cast<std::size_t>(nodes_), value);
    if (!active_) return all;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallgather(&value, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD, &request),
              "MPI_Iallgather");
    wait_politely(request);
    return all;
}

std::vector<std::string> Parallel::gather(const std::string& text) const {
    if (!active_) return {text};
    constexpr int limit = 4096;
    std::vector<char> mine(limit, '\0');
    std::copy_n(text.begin(), std::min<std::size_t>(text.size(), limit - 1), mine.begin());
    std::vector<char> all(static_cast<std::size_t>(nodes_) * limit);
    check_mpi(MPI_Allgather(mine.data(), limit, MPI_CHAR, all.data(), limit, MPI_CHAR, MPI_COMM_WORLD),
              "MPI_Allgather");
    std::vector<std::string> result;
    for (int n = 0; n < nodes_; ++n) result.emplace_back(&all[static_cast<std::size_t>(n) * limit]);
    return result;
}

}  // namespace starpu
}  // namespace tesela
