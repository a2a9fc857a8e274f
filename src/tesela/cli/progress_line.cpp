#include "tesela/cli/progress_line.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/units.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace tesela::cli {
namespace {

constexpr auto pause = std::chrono::milliseconds(200);

/// mpirun reads the stderr of its processes through a pipe; what counts is whether its own is a terminal.
bool stderr_of_parent_is_terminal() {
    std::error_code none;
    const std::string target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", getppid()), none).string();
    return target.starts_with("/dev/pts/") || target.starts_with("/dev/tty");
}

bool terminal_of_the_first_node() {
    const auto rank = rank_by_launcher();
    if (rank.value_or("0") != "0") return false;
    return isatty(STDERR_FILENO) != 0 || (rank && stderr_of_parent_is_terminal());
}

}  // namespace

ProgressLine::ProgressLine(Wanted wanted) : shown_(wanted == Wanted::yes && terminal_of_the_first_node()) {}
ProgressLine::~ProgressLine() { clear(); }

double ProgressLine::seconds() const { return seconds_since(start_); }

void ProgressLine::show(const std::function<std::string()>& text) {
    if (!shown_ || Clock::now() < next_) return;
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

}  // namespace tesela::cli
