#include "tesela/io/output_file.hpp"

#include "tesela/io/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tesela {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 18U;

/// The file that a path leads to through symbolic links; the path itself when that cannot be told.
std::string follow_links(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::path real = std::filesystem::canonical(path, ignored);
    return real.empty() ? path : real.string();
}

std::string directory_of(const std::string& path) {
    const std::string parent = std::filesystem::path(path).parent_path().string();
    return parent.empty() ? "." : parent;
}

/// A hidden name beside the target that says whose it is; short enough for any file system.
std::string temporary_name(const std::string& target, int attempt) {
    const std::string name = std::filesystem::path(target).filename().string().substr(0, 100);
    return fmt::format("{}/.{}.tmp{}-{}", directory_of(target), name, ::getpid(), attempt);
}

/// The name of a temporary where the handler of a signal can read it: it may neither wait nor ask for memory.
struct Slot {
    enum State : int { free, being_changed, in_use };
    std::atomic<int> state = free;
    std::array<char, 4096> name{};  // the longest path that Linux takes
};
static_assert(std::atomic<int>::is_always_lock_free);

/// More than a program has open at once; further files are written without.
std::array<Slot, 32> slots;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): handlers see nothing else

/// Puts a name into a free slot and returns its number; -1 if there is none.
int keep_for_signals(const std::string& name) {
    if (name.size() >= slots.front().name.size()) return -1;
    for (std::size_t k = 0; k < slots.size(); ++k) {
        int expected = Slot::free;
        if (!slots[k].state.compare_exchange_strong(expected, Slot::being_changed)) continue;
        std::copy_n(name.c_str(), name.size() + 1, slots[k].name.begin());
        slots[k].state = Slot::in_use;
        return static_cast<int>(k);
    }
    return -1;
}

void give_back(int slot) {
    if (slot >= 0) slots[static_cast<std::size_t>(slot)].state = Slot::free;
}

}  // namespace

void remove_unfinished_outputs() noexcept {
    for (const Slot& slot : slots)
        if (slot.state == Slot::in_use) ::unlink(slot.name.data());
}

bool is_standard_output(std::string_view path) {
    constexpr std::array<std::string_view, 4> names{"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    return std::find(names.begin(), names.end(), path) != names.end();
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) throw Error("the name of an output file is empty");
    if (is_stdout()) {
        std::fflush(stdout);
        descriptor_ = STDOUT_FILENO;
        return;
    }
    struct stat status {};
    const bool exists = ::stat(path_.c_str(), &status) == 0;
    if (!exists && errno != ENOENT) fail(errno);
    if (exists ? S_ISDIR(status.st_mode) : path_.back() == '/') fail(EISDIR);
    if (exists && ::access(path_.c_str(), W_OK) != 0) fail(errno);
    if (exists && S_ISFIFO(status.st_mode)) return;
    if (exists && !S_ISREG(status.st_mode)) {
        open_in_place();
        if (descriptor_ < 0) fail(errno);
        return;
    }
    target_ = follow_links(path_);
    open_temporary();
    if (exists) ::fchmod(descriptor_, status.st_mode & 07777U);  // a courtesy: not every file system has modes
}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0 && !is_stdout()) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    forget_temporary();
}

void OutputFile::forget_temporary() {
    give_back(std::exchange(slot_, -1));
    temporary_.clear();
}

void OutputFile::open_in_place() { descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC); }

void OutputFile::open_temporary() {
    if (const std::string parent = directory_of(target_); ::access(parent.c_str(), F_OK) != 0 && errno == ENOENT)
        throw Error("cannot write {}: there is no directory {}", in_quotes(path_), in_quotes(parent));
    for (int attempt = 0; descriptor_ < 0; ++attempt) {
        const std::string name = temporary_name(target_, attempt);
        slot_ = keep_for_signals(name);  // before there is a file: a signal may come in between
        descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ >= 0) {
            temporary_ = name;
            return;
        }
        const int reason = errno;
        forget_temporary();
        if (reason != EEXIST) fail(reason);
    }
}

void OutputFile::write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= buffer_size) flush();
}

const std::string& OutputFile::name_to_write() const {
    if (temporary_.empty())
        throw Error("cannot write {}: this format needs a regular file",
                    is_stdout() ? "standard output" : in_quotes(path_));
    return temporary_;
}

void OutputFile::flush() {
    if (descriptor_ < 0) open_in_place();  // a pipe
    if (descriptor_ < 0) fail_to_write(errno);
    std::string_view rest = buffer_;
    while (!rest.empty()) {
        const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
        if (count < 0 && errno != EINTR) fail_to_write(errno);
        if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
    }
    buffer_.clear();
}

void OutputFile::commit() {
    flush();
    if (is_stdout()) return;
    if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail_to_write(errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) fail_to_write(errno);
    if (temporary_.empty()) return;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_to_write(errno);
    forget_temporary();
}

std::string OutputFile::failure(int reason) const {
    return is_stdout() ? stdout_failure(reason)
                       : fmt::format("cannot write {}: {}", in_quotes(path_), std::strerror(reason));
}

void OutputFile::fail(int reason) const { throw Error(failure(reason)); }

void OutputFile::fail_to_write(int reason) const { throw OutputError(failure(reason)); }

void write_file(const std::string& path, std::string_view text) {
    OutputFile file(path);
    file.write(text);
    file.commit();
}

}  // namespace tesela
