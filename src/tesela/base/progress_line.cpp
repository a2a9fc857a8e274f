#include "tesela/base/progress_line.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/program.hpp"
#include "tesela/base/units.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace tesela {
namespace {

constexpr auto pause = std::chrono::milliseconds(200);
/// Between lines in a file: so that a run of hours has hundreds, and one of seconds a few.
constexpr double least_pause_of_lines = 2;
constexpr double share_of_pause = 0.1;

/// mpirun reads the stderr of its processes through a pipe; what counts is whether its own is a terminal.
bool stderr_of_parent_is_terminal() {
    std::error_code none;
    const std::string target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", getppid()), none).string();
    return target.starts_with("/dev/pts/") || target.starts_with("/dev/tty");
}

bool has_terminal() {
    const auto rank = rank_by_launcher();
    return isatty(STDERR_FILENO) != 0 || (rank && stderr_of_parent_is_terminal());
}

}  // namespace

ProgressLine::ProgressLine(Wanted wanted)
    : shown_(wanted != Wanted::no && is_first_node() && has_terminal()),
      logged_(wanted == Wanted::in_files_too && is_first_node() && !shown_) {
    if (logged_) next_ += std::chrono::milliseconds(static_cast<int>(1000 * least_pause_of_lines));
}
ProgressLine::~ProgressLine() { clear(); }

double ProgressLine::seconds() const { return seconds_since(start_); }

void ProgressLine::show(const std::function<std::string()>& text) {
    if ((!shown_ && !logged_) || Clock::now() < next_) return;
    if (logged_) {
        fmt::print(stderr, "{}\n", text());
        const double wait = std::max(least_pause_of_lines, share_of_pause * seconds());
        next_ = Clock::now() + std::chrono::milliseconds(static_cast<int>(1000 * wait));
        return;
    }
    fmt::print(stderr, "\r\033[K{}", text());
    std::fflush(stderr);
    next_ = Clock::now() + pause;
    written_ = true;
}

void ProgressLine::show(const char* what, Index done, Index of) {
    show([&] { return fmt::format("{}: {} of {}", what, done, of); });
}

void ProgressLine::show_bar(Index done, Index of, const std::string& next) {
    show([&] {
        constexpr Index width = 30;
        const Index filled = of == 0 ? width : width * done / of;
        const double left = done == 0 ? 0 : seconds() * static_cast<double>(of - done) / static_cast<double>(done);
        return fmt::format("[{:#<{}}{:.<{}}] {}/{} {}{}", "", filled, "", width - filled, done, of, next,
                           done == 0 ? "" : ", about " + format_seconds(left) + " left");
    });
}

void ProgressLine::clear() {
    if (written_) fmt::print(stderr, "\r\033[K");
    written_ = false;
}

}  // namespace tesela
