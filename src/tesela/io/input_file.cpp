#include "tesela/io/input_file.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace tesela {
namespace {

/// Closes what it opened; standard input is left open.
class Descriptor {
public:
    explicit Descriptor(const std::string& path)
        : number_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~Descriptor() {
        if (number_ > STDIN_FILENO) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

[[noreturn]] void fail(const std::string& path) {
    const int reason = errno;
    throw Error("cannot read {}: {}", path == "-" ? "standard input" : in_quotes(path), std::strerror(reason));
}

/// The size of a regular file; pipes and devices have none.
std::size_t expected_size(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    return static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
}

constexpr std::size_t smallest_read = std::size_t{1} << 16U;

}  // namespace

std::string read_file(const std::string& path) {
    const bool alone = environment("OMPI_COMM_WORLD_SIZE") == "1" || environment("PMI_SIZE") == "1";
    if (path == "-" && rank_by_launcher() && !alone)
        throw Error("under mpirun standard input reaches one process only: give the name of a file that all can read");
    const Descriptor file(path);
    if (file.number() < 0) fail(path);
    std::string text(expected_size(file.number()) + 1, '\0');  // one more, so that the end is seen without growing
    std::size_t used = 0;
    for (;;) {
        if (used == text.size()) text.resize(std::max(2 * used, smallest_read));
        const ssize_t count = ::read(file.number(), text.data() + used, text.size() - used);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail(path);
        if (count == 0) break;
        used += static_cast<std::size_t>(count);
    }
    text.resize(used);
    return text;
}

std::string in_quotes(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            result += "\\n";
        } else if (c == '\r') {
            result += "\\r";
        } else if (c == '\t') {
            result += "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            fmt::format_to(std::back_inserter(result), "\\x{:02x}", byte);
        } else {
            result += c;
        }
    }
    return result += '\'';
}

std::string excerpt(std::string_view text) {
    constexpr std::size_t limit = 40;
    if (text.size() <= limit) return in_quotes(text);
    std::size_t cut = limit;
    const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U; };
    while (cut > limit - 4 && continues(cut)) --cut;  // not inside a UTF-8 character
    return in_quotes(std::string(text.substr(0, cut)) + "…");
}

}  // namespace tesela
