#pragma once

#include "tesela/base/index.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// Whether this process was started by mpirun or srun.
[[nodiscard]] bool started_in_parallel();

namespace net {

/// What a program on several nodes has not kept to when they part.
inline constexpr std::string_view rule_for_nodes = "all nodes must do the same, in the same order";

/// Ends the whole job at once and non-zero, with one line that says which node and why. Does not return.
[[noreturn]] void end_job(const std::string& why);

/// The same for what several nodes notice at a time.
[[noreturn]] void end_job_for_all(const std::string& why);

/// While it lives, a program that ends by `exit` ends the job (see end_job): the other nodes would wait for this one.
class NoExit {
public:
    NoExit();
    ~NoExit();
    NoExit(const NoExit&) = delete;
    NoExit& operator=(const NoExit&) = delete;
    NoExit(NoExit&&) = delete;
    NoExit& operator=(NoExit&&) = delete;
};

/// The nodes of this run as MPI knows them; alone, without MPI started, when the process was not started in parallel.
/// Its operations are collective: every node calls them in the same order, from one thread at a time.
class Nodes {
public:
    Nodes();
    ~Nodes();
    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;
    Nodes(Nodes&&) = delete;
    Nodes& operator=(Nodes&&) = delete;

    [[nodiscard]] bool active() const { return count_ > 1; }
    [[nodiscard]] int me() const { return me_; }
    [[nodiscard]] int count() const { return count_; }
    /// Nodes of this run on the same machine.
    [[nodiscard]] int count_here() const { return count_here_; }
    /// This node's number among them.
    [[nodiscard]] int number_here() const { return number_here_; }

    /// Does what may fail on one node: all throw Error, with the first reason, if it does on any.
    void all_or_none(const std::function<void()>& work) const;
    /// Whether all nodes on this machine bring the same text.
    [[nodiscard]] bool alike_here(const std::string& text) const;
    [[nodiscard]] std::vector<double> gather(double value) const;
    [[nodiscard]] std::vector<std::string> gather(const std::string& text) const;
    /// What one node brings, on every node.
    void broadcast(std::span<std::byte> bytes, int from) const;
    [[nodiscard]] std::uint64_t broadcast(std::uint64_t value, int from) const;
    /// Waits until every node has come here, without keeping a core busy meanwhile.
    void meet() const;

    /// A reading of this node's clock, and how far that of node 0 was ahead of it then, in the clock's units.
    struct ClockOffset {
        std::int64_t at = 0;
        std::int64_t offset = 0;
    };
    /// From the fastest of some messages to and fro, of which half the time counts each way.
    [[nodiscard]] ClockOffset clock_offset(std::int64_t (*now)()) const;

    class Communicator;
    /// MPI's name of these nodes, for this folder's own use; only if active.
    [[nodiscard]] const Communicator& communicator() const { return *communicator_; }

private:
    int me_ = 0;
    int count_ = 1;
    int count_here_ = 1;
    int number_here_ = 0;
    std::unique_ptr<Communicator> communicator_;
    std::unique_ptr<Communicator> here_;  // of those on this machine
};

}  // namespace net
}  // namespace tesela
