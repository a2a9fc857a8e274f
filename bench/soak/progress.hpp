#pragma once

#include "tesela/base/index.hpp"

#include <chrono>
#include <string>

namespace tesela::bench {

/// One line on a terminal that says how far a long run has come, written anew about every second; nothing elsewhere.
class Progress {
public:
    Progress(std::string what, Index total);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    Progress(Progress&&) = delete;
    Progress& operator=(Progress&&) = delete;

    void reached(Index done);

private:
    using Clock = std::chrono::steady_clock;

    std::string what_;
    Index total_;
    Clock::time_point next_;
    bool shown_;
    bool written_ = false;
};

}  // namespace tesela::bench
