#pragma once

#include "tesela/net/transport.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace tesela::net {

/// What a node remembers of what it did in a topic (see Arrival), when it is asked for a step.
struct Recalled {
    std::uint64_t oldest = 0;              ///< the first step whose trail is remembered, or 0
    std::uint64_t newest = 0;              ///< the last step that it has made
    std::optional<std::uint64_t> trail{};  ///< a hash of the steps up to that one, if it is remembered
    std::string text{};       ///< what the step was: "submits dgemm on A(1, 0)"; or what the node does after its last
    std::string otherwise{};  ///< how two that are called the same can differ: "with other arguments"
};

/// Two nodes have not done the same, as was noticed in some way.
struct Case {
    std::array<int, 2> nodes{};
    std::uint64_t topic = 0;
    std::string name{};  ///< of the topic, for people: "stream fit"
    std::string why{};   ///< what was noticed: told where the step cannot be found
};

/// Finds the first step in which two nodes differ, by asking both for hashes of their steps, and says what each has
/// done there. Knows no MPI; safe for calls from several threads.
class FirstDifference {
public:
    struct Hooks {
        std::function<void(int to, const Notice&)> send;
        /// Nothing if this node does not know the topic. Who is asked goes no further: somebody is going to end the
        /// job.
        std::function<std::optional<Recalled>(std::uint64_t topic, std::uint64_t step)> recall;
        std::function<void(const std::string& line)> found;
    };
    explicit FirstDifference(Hooks hooks) : hooks_(std::move(hooks)) {}

    /// One case at a time: false if there is one already.
    bool find(Case what);

    /// Notices of these kinds are ours.
    static constexpr std::uint32_t first_kind = 16;
    static constexpr std::uint32_t last_kind = 17;
    void hear(int from, const Notice& notice);

private:
    enum class Kind : std::uint32_t { ask = first_kind, told = last_kind };
    void ask(std::uint64_t step);
    void answer(int from, const Notice& notice) const;
    void hear_answer(int from, const Notice& notice);
    /// What to do with both answers: ask for another step, or say what was found.
    struct Next {
        std::optional<std::uint64_t> step{};
        std::string line{};
    };
    [[nodiscard]] Next decide();
    [[nodiscard]] Next next_step() const;
    [[nodiscard]] std::string difference() const;
    [[nodiscard]] std::string forgotten() const;

    Hooks hooks_;
    std::mutex mutex_;
    std::optional<Case> case_;
    bool found_ = false;
    std::uint64_t asked_ = 0;
    std::array<std::optional<Recalled>, 2> answers_;
    std::uint64_t oldest_ = 0, newest_ = 0;      // of what both remember
    std::optional<std::uint64_t> same_, other_;  // the last step known to be the same, the first known to be another
};

}  // namespace tesela::net
