// Feeds bytes to the reader of checkpoints of fits, and goes on from what it accepts. Only tesela::Error of one line
// may come out. Digests are made right first, since otherwise hardly any evaluation would be believed.

#include "require.hpp"
#include "temporary_file.hpp"
#include "tesela/base/digest.hpp"
#include "tesela/base/error.hpp"
#include "tesela/geo/internal/evaluation_log.hpp"
#include "tesela/geo/matrix_storage.hpp"
#include "tesela/io/input_file.hpp"

#include <fmt/format.h>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace tesela;  // NOLINT(google-build-using-namespace): a program
using fuzz::one_line_at_most;
using fuzz::require;
using Question = nlohmann::ordered_json;

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

constexpr std::size_t counts = 3;  // words of a line before its numbers

/// The line with the digest that its numbers have as its last word.
std::string mended(const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() <= counts) return line;
    Digest digest;
    for (std::size_t k = counts; k + 1 < words.size(); ++k)
        digest.add(std::bit_cast<std::uint64_t>(std::strtod(words[k].c_str(), nullptr)));
    return line.substr(0, line.rfind(words.back())) + fmt::format("{:016x}", digest.value());
}

std::string with_digests(const std::string& text) {
    std::istringstream in(text);
    std::string result;
    std::string line;
    if (std::getline(in, line)) result = line + '\n';
    while (std::getline(in, line)) result += mended(line) + '\n';
    return result;
}

std::vector<double> logs_of(const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    const std::size_t variables = std::stoul(words.at(0));
    std::vector<double> logs;
    for (std::size_t k = 0; k < variables; ++k) logs.push_back(std::strtod(words.at(counts + k).c_str(), nullptr));
    return logs;
}

/// What is sent to the other nodes is what they get.
void send(const geo::SearchPoint& point) {
    const geo::SearchPoint got = geo::unpack(geo::pack(point), point.logs);
    require(got.slope.size() == point.slope.size(), "slopes arrive");
    require(got.information.values.size() == point.information.values.size(), "information arrives");
}

/// The search that a checkpoint is of asks for its points in their order.
void go_on(geo::EvaluationLog& log, const std::string& written) {
    std::istringstream lines(written);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        require(log.has_next(), "no more is written than is known");
        const std::vector<double> logs = logs_of(line);
        if (logs != logs) return;  // no search asks for what is no number
        const geo::SearchPoint point = log.next(logs);
        require(point.slope.empty() || point.slope.size() == logs.size(), "a variable has a slope");
        send(point);
        log.add(point);
    }
    require(!log.has_next(), "all that is known is written");
}

void read(const std::string& text) {
    const fuzz::TemporaryFile file(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    one_line_at_most([&] {
        if (const auto storage = geo::storage_from_json(geo::question_in(file.path())))
            require(storage->tile >= 1, "tiles have elements");
    });
    one_line_at_most([&] {
        geo::EvaluationLog(file.path(),
                           {{"tile", 16}, {"method", "exact"}, {"observations", {155, "ab"}}, {"fuzz", 4711}});
    });
    if (!text.empty()) require(read_file(file.path()) == text, "the checkpoint of another fit is left alone");
    one_line_at_most([&] {
        const Question question = geo::question_in(file.path());
        { const geo::EvaluationLog log(file.path(), question); }
        const std::string written = read_file(file.path());
        geo::EvaluationLog log(file.path(), question);
        require(read_file(file.path()) == written, "a checkpoint that is written reads back the same");
        go_on(log, written);
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    read(text);
    read(with_digests(text));
    return 0;
}
