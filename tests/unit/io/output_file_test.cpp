#include "tesela/io/output_file.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tesela::output_file_test {
namespace {

unsigned mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777U;
}

void expect_mentions(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(OutputFile, AppearsOnlyWhenCommitted) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("out.txt");
    {
        OutputFile file(path);
        file.write("one ");
        file.write("two");
        EXPECT_FALSE(std::filesystem::exists(path));
        file.commit();
        EXPECT_EQ(get(path), "one two");
    }
    EXPECT_EQ(get(path), "one two");
    EXPECT_EQ(directory.entries(), std::set<std::string>{"out.txt"});
}

TEST(OutputFile, WithoutCommitLeavesWhatWasThere) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("out.txt");
    put(path, "before");
    {
        OutputFile file(path);
        file.write(std::string(1 << 20, 'x'));  // more than any buffer
        EXPECT_EQ(get(path), "before");
    }
    EXPECT_EQ(get(path), "before");
    EXPECT_EQ(directory.entries(), std::set<std::string>{"out.txt"});
}

TEST(OutputFile, OfAProgramThatIsEndedLeavesNothing) {
    const TemporaryDirectory directory;
    put(directory.path("old.txt"), "before");
    OutputFile committed(directory.path("committed.txt"));
    committed.write("whole");
    committed.commit();
    const OutputFile first(directory.path("old.txt"));
    const OutputFile second(directory.path("old.txt"));
    { const OutputFile given_up(directory.path("none.txt")); }
    EXPECT_EQ(directory.entries().size(), 4U);
    remove_unfinished_outputs();
    EXPECT_EQ(directory.entries(), (std::set<std::string>{"committed.txt", "old.txt"}));
    EXPECT_EQ(get(directory.path("old.txt")), "before");
}

TEST(OutputFile, AnyNumberCanBeOpenAtOnce) {
    const TemporaryDirectory directory;
    for (int round = 0; round < 2; ++round) {
        std::vector<std::unique_ptr<OutputFile>> files;
        for (int k = 0; k < 100; ++k)
            files.push_back(std::make_unique<OutputFile>(directory.path(fmt::format("{}.txt", k))));
        for (const auto& file : files) file->commit();
    }
    EXPECT_EQ(directory.entries().size(), 100U);
    // Those before have given their places back.
    const OutputFile file(directory.path("last.txt"));
    remove_unfinished_outputs();
    EXPECT_EQ(directory.entries().size(), 100U);
}

TEST(OutputFile, TwoWritersOfOnePathDoNotMix) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("out.txt");
    OutputFile first(path);
    OutputFile second(path);
    first.write("first");
    second.write("second");
    second.commit();
    first.commit();
    EXPECT_EQ(get(path), "first");
    EXPECT_EQ(directory.entries(), std::set<std::string>{"out.txt"});
}

TEST(OutputFile, KeepsTheModeOfAFileAndFollowsTheUmaskOtherwise) {
    const TemporaryDirectory directory;
    put(directory.path("old.txt"), "before");
    ASSERT_EQ(::chmod(directory.path("old.txt").c_str(), 0640), 0);
    write_file(directory.path("old.txt"), "after");
    EXPECT_EQ(mode_of(directory.path("old.txt")), 0640U);
    const mode_t mask = ::umask(027);
    write_file(directory.path("new.txt"), "after");
    ::umask(mask);
    EXPECT_EQ(mode_of(directory.path("new.txt")), 0640U);
}

TEST(OutputFile, WritesThroughASymbolicLink) {
    const TemporaryDirectory directory;
    put(directory.path("real.txt"), "before");
    std::filesystem::create_symlink("real.txt", directory.path("link.txt"));
    write_file(directory.path("link.txt"), "after");
    EXPECT_TRUE(std::filesystem::is_symlink(directory.path("link.txt")));
    EXPECT_EQ(get(directory.path("real.txt")), "after");
}

TEST(OutputFile, AcceptsTheLongestFileName) {
    const TemporaryDirectory directory;
    const std::string name(255, 'n');
    write_file(directory.path(name), "text");
    EXPECT_EQ(get(directory.path(name)), "text");
}

TEST(OutputFile, WritesToADeviceWithoutReplacingIt) {
    write_file("/dev/null", "text");
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

/// Who reads a pipe sees its end when it is closed: it is opened once, when there is something to say.
TEST(OutputFile, OpensAPipeForItsTextOnly) {
    const TemporaryDirectory directory;
    const std::string fifo = directory.path("fifo");
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const std::string text(300000, 'p');
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::alarm(20);
        { const OutputFile probe(fifo); }
        write_file(fifo, text);
        ::_exit(0);
    }
    EXPECT_EQ(read_file(fifo), text);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(directory.entries(), std::set<std::string>{"fifo"});
}

TEST(OutputFile, StandardOutputHasSeveralNames) {
    for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
        testing::internal::CaptureStdout();
        std::fputs("before ", stdout);
        write_file(name, "written ");
        std::fputs("after", stdout);
        EXPECT_EQ(testing::internal::GetCapturedStdout(), "before written after") << name;
    }
    EXPECT_FALSE(is_standard_output("/dev/stderr"));
}

TEST(OutputFile, SaysThatTheDiskIsFull) {
    if (!std::filesystem::is_character_file("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
    const std::string message = message_of<OutputError>([] { write_file("/dev/full", "text"); });
    EXPECT_EQ(message, "cannot write '/dev/full': No space left on device");
}

/// A limit on the size of files makes a write fail half-way, as a quota does.
TEST(OutputFile, AFailedWriteLeavesTheOldFileAndNothingElse) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("out.txt");
    put(path, "before");
    struct rlimit old {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small { 4096, old.rlim_max };
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string message = message_of<Error>([&] { write_file(path, std::string(1 << 20, 'x')); });
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    expect_mentions(message, fmt::format("cannot write '{}': File too large", path));
    EXPECT_EQ(get(path), "before");
    EXPECT_EQ(directory.entries(), std::set<std::string>{"out.txt"});
}

constexpr int cannot_mount = 77;

/// In a namespace of its own, so that nothing stays mounted. Exit code 0: the disk-full error came and left nothing.
[[noreturn]] void fill_a_small_file_system(const TemporaryDirectory& directory) {
    if (::unshare(CLONE_NEWNS) != 0) ::_exit(cannot_mount);
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(cannot_mount);
    if (::mount("none", directory.path().c_str(), "tmpfs", 0, "size=64k") != 0) ::_exit(cannot_mount);
    int code = 1;
    try {
        write_file(directory.path("out.txt"), std::string(1 << 20, 'x'));
    } catch (const Error& error) {
        const bool named = std::string(error.what()).find("out.txt': No space left on device") != std::string::npos;
        code = named && directory.entries().empty() ? 0 : 2;
    }
    ::_exit(code);
}

TEST(OutputFile, AFullFileSystemIsAnErrorWithoutLeftovers) {
    const TemporaryDirectory directory;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) fill_a_small_file_system(directory);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == cannot_mount) GTEST_SKIP() << "not allowed to mount a small file system";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(OutputFile, NamesTheReasonBeforeAnyWork) {
    const TemporaryDirectory directory;
    put(directory.path("file"), "");
    const auto opening = [](const std::string& path) {
        return message_of<Error>([&] { const OutputFile file(path); });
    };
    expect_mentions(opening(directory.path()), "Is a directory");
    expect_mentions(opening(directory.path("none/")), "Is a directory");
    expect_mentions(opening(directory.path("none/out.txt")),
                    fmt::format("there is no directory '{}'", directory.path("none")));
    expect_mentions(opening(directory.path("file/out.txt")), "Not a directory");
    expect_mentions(opening(directory.path(std::string(300, 'n'))), "File name too long");
    expect_mentions(opening(directory.path("none\nhere/x")), "none\\nhere/x");
    expect_mentions(opening(""), "empty");
    EXPECT_EQ(directory.entries(), std::set<std::string>{"file"});
}

TEST(OutputFile, SaysThatADirectoryOrAFileMayNotBeWritten) {
    const TemporaryDirectory directory;
    put(directory.path("read-only.txt"), "before");
    ASSERT_EQ(::chmod(directory.path("read-only.txt").c_str(), 0444), 0);
    ASSERT_EQ(::chmod(directory.path().c_str(), 0555), 0);
    const bool root = ::geteuid() == 0;  // whom modes do not stop
    constexpr uid_t nobody = 65534;
    if (root && ::seteuid(nobody) != 0) GTEST_SKIP() << "root that cannot become another user";
    const std::string new_file = message_of<Error>([&] { const OutputFile file(directory.path("out.txt")); });
    const std::string old_file = message_of<Error>([&] { const OutputFile file(directory.path("read-only.txt")); });
    if (root && ::seteuid(0) != 0) FAIL() << "cannot become root again";
    ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
    expect_mentions(new_file, "out.txt': Permission denied");
    expect_mentions(old_file, "read-only.txt': Permission denied");
}

TEST(InputFile, ReadsWhatIsNotARegularFile) {
    const TemporaryDirectory directory;
    const std::string fifo = directory.path("fifo");
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const std::string text(300000, 'p');
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        put(fifo, text);
        ::_exit(0);
    }
    EXPECT_EQ(read_file(fifo), text);
    ::waitpid(child, nullptr, 0);
}

TEST(InputFile, ExcerptsStayShortAndWhole) {
    const std::string longest(40, 'a');
    EXPECT_EQ(excerpt(longest), fmt::format("'{}'", longest));
    EXPECT_EQ(excerpt(std::string(39, 'a') + "\xc3\xa9\xc3\xa9"), fmt::format("'{:a>39}…'", ""));
    EXPECT_EQ(in_quotes("a\tb\r\n\x1b\x7f"), "'a\\tb\\r\\n\\x1b\\x7f'");
}

}  // namespace
}  // namespace tesela::output_file_test
