#pragma once

#include "tesela/base/clock.hpp"
#include "tesela/base/index.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace tesela {

/// One line on stderr that says how far long work has come, written anew a few times a second and wiped at the end. On
/// the first node only, on a terminal only (under mpirun: on mpirun's), and unless --quiet. Where it is wanted in files
/// too, a line now and then stands for it there.
class ProgressLine {
public:
    enum class Wanted : std::uint8_t { no, yes, in_files_too };
    explicit ProgressLine(Wanted wanted = Wanted::yes);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ProgressLine(ProgressLine&&) = delete;
    ProgressLine& operator=(ProgressLine&&) = delete;

    /// The text is made only if it is shown.
    void show(const std::function<std::string()>& text);
    /// "messages: 3 of 10"
    void show(const char* what, Index done, Index of);
    /// A bar, what comes next, and how long the rest will take at the rate so far.
    void show_bar(Index done, Index of, const std::string& next);
    [[nodiscard]] double seconds() const;
    void clear();

private:
    Clock::time_point start_ = Clock::now();
    Clock::time_point next_ = start_;
    bool shown_;
    bool logged_;  ///< in lines of their own
    bool written_ = false;
};

}  // namespace tesela
