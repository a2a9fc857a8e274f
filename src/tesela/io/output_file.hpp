#pragma once

#include "tesela/base/program.hpp"

#include <string>
#include <string_view>

namespace tesela {

/// Whether a name is that of standard output: `-`, or what the system calls it (/dev/stdout).
[[nodiscard]] bool is_standard_output(std::string_view path);

/// A file that appears whole or not at all: text goes to a temporary beside it, commit() puts that in its place, and
/// destruction without commit() leaves what was there before. Standard output, a device or a pipe is written directly;
/// a pipe is opened for the first text only, since whoever reads it has seen its end when it is closed.
/// Opening it early finds an unwritable path before the work is done rather than after.
/// Every function throws Error naming the path and the reason (no such directory, …), OutputError once it is open
/// (disk full, …).
class OutputFile {
public:
    explicit OutputFile(std::string path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view text);
    /// The file that becomes this one, for libraries that write by name, and that this one's write() is not mixed with.
    /// Throws Error for standard output, a device or a pipe.
    [[nodiscard]] const std::string& name_to_write() const;
    /// Flushes, makes the content durable and renames. At most once, and last.
    void commit();

private:
    void open_in_place();
    void open_temporary();
    void forget_temporary();
    void flush();
    [[nodiscard]] std::string failure(int reason) const;
    [[noreturn]] void fail(int reason) const;
    [[noreturn]] void fail_to_write(int reason) const;
    [[nodiscard]] bool is_stdout() const { return is_standard_output(path_); }

    std::string path_;
    std::string target_;     ///< what is replaced: path_ with links followed
    std::string temporary_;  ///< empty when there is none (any more)
    int slot_ = -1;          ///< where remove_unfinished_outputs() finds its name
    std::string buffer_;
    int descriptor_ = -1;
};

/// Removes the temporaries of all files that are not committed; what was there before stays. For the handler of a
/// signal that ends the program: it may be called at any moment, by any thread, and the files can only be given up
/// afterwards.
void remove_unfinished_outputs() noexcept;

/// One OutputFile with this text in it.
void write_file(const std::string& path, std::string_view text);

}  // namespace tesela
