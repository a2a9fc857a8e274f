#include "tesela/geo/internal/evaluation_log.hpp"

#include "tesela/base/digest.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

namespace tesela::geo {
namespace {

using Question = nlohmann::ordered_json;

constexpr std::string_view heading = "tesela-evaluations 2 ";

/// Empty where there is no file.
std::string text_of(const std::string& file) {
    if (!std::filesystem::exists(file)) return {};
    if (!std::filesystem::is_regular_file(file))
        throw Error("{} is not a regular file, and a checkpoint must be one: it is read again", file);
    return read_file(file);
}

/// Nothing where it is damaged: also nested so deep that copying and comparing it would overflow the stack.
std::optional<Question> parse_question(const std::string& text) {
    constexpr int most_depth = 100;
    bool deep = false;
    const auto keep = [&](int depth, Question::parse_event_t, const Question&) {
        deep = deep || depth > most_depth;
        return !deep;
    };
    Question question = Question::parse(text, keep, false);
    if (deep || !question.is_object()) return std::nullopt;
    return question;
}

/// What the first line of a checkpoint says that it answers.
Question question_of_line(const std::string& line, const std::string& file) {
    if (!line.starts_with(heading))
        throw Error("{} is not a checkpoint of a fit by this version: it begins with {}", file, excerpt(line));
    if (auto question = parse_question(line.substr(heading.size()))) return *std::move(question);
    throw Error("{} is a damaged checkpoint: remove it to start again", file);
}

/// "tile is 445 in it and 303 here, the observations are others"; what only one of them has follows from something
/// else.
std::string differences(const Question& there, const Question& here) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : here.items()) {
        if (!there.contains(name) || there.at(name) == value) continue;
        texts.push_back(value.is_structured()
                            ? fmt::format("the {} are others", name)
                            : fmt::format("{} is {} in it and {} here", name, there.at(name).dump(), value.dump()));
    }
    return texts.empty() ? "it has other options" : fmt::format("{}", fmt::join(texts, ", "));
}

/// The numbers of a point, in order.
std::vector<double> numbers_of(const SearchPoint& point) {
    std::vector<double> numbers = point.logs;
    for (const Parameter p : all_parameters) numbers.push_back(value_of(point.theta, p));
    numbers.push_back(point.log_likelihood);
    numbers.insert(numbers.end(), point.slope.begin(), point.slope.end());
    numbers.insert(numbers.end(), point.information.values.begin(), point.information.values.end());
    return numbers;
}

std::uint64_t digest_of(const std::vector<double>& numbers) {
    Digest digest;
    digest.add(numbers);
    return digest.value();
}

/// How many variables, whether slopes and information are there, the numbers with all digits, and their digest.
std::string line_of(const SearchPoint& point) {
    const std::vector<double> numbers = numbers_of(point);
    return fmt::format("{} {} {} {:a} {:016x}", point.logs.size(), point.slope.size(), point.information.values.size(),
                       fmt::join(numbers, " "), digest_of(numbers));
}

/// Nothing if the line is not whole.
std::optional<SearchPoint> point_of(const std::string& line) {
    std::istringstream in(line);
    std::size_t variables = 0;
    std::size_t slopes = 0;
    std::size_t information = 0;
    if (!(in >> variables >> slopes >> information) || variables > all_parameters.size() ||
        (slopes != 0 && slopes != variables) || (information != 0 && information != variables * variables))
        return std::nullopt;
    const auto number = [&] {
        std::string word;
        in >> word;
        return std::strtod(word.c_str(), nullptr);
    };
    SearchPoint point;
    for (std::size_t k = 0; k < variables; ++k) point.logs.push_back(number());
    for (const Parameter p : all_parameters) value_of(point.theta, p) = number();
    point.log_likelihood = number();
    for (std::size_t k = 0; k < slopes; ++k) point.slope.push_back(number());
    if (information > 0) point.information = SmallMatrix(static_cast<Index>(variables), static_cast<Index>(variables));
    for (double& value : point.information.values) value = number();
    std::string digest;
    in >> digest;
    if (digest != fmt::format("{:016x}", digest_of(numbers_of(point)))) return std::nullopt;
    return point;
}

}  // namespace

PackedPoint pack(const SearchPoint& point) {
    PackedPoint packed{.theta = point.theta, .log_likelihood = point.log_likelihood};
    std::ranges::copy(point.slope, packed.slope.begin());
    std::ranges::copy(point.information.values, packed.information.begin());
    packed.slopes = static_cast<std::int32_t>(point.slope.size());
    packed.informations = static_cast<std::int32_t>(point.information.values.size());
    return packed;
}

SearchPoint unpack(const PackedPoint& packed, std::vector<double> logs) {
    SearchPoint point{.logs = std::move(logs), .theta = packed.theta, .log_likelihood = packed.log_likelihood};
    point.slope.assign(packed.slope.begin(), packed.slope.begin() + packed.slopes);
    if (packed.informations > 0) {
        const auto count = static_cast<Index>(point.logs.size());
        point.information = SmallMatrix(count, count);
        std::copy_n(packed.information.begin(), packed.informations, point.information.values.begin());
    }
    return point;
}

Question question_in(const std::string& file) {
    std::istringstream in(text_of(file));
    std::string line;
    if (!std::getline(in, line)) return {};  // made and not written to
    return question_of_line(line, file);
}

EvaluationLog::EvaluationLog(const std::string& file, const Question& question) : file_(file) {
    read(text_of(file), question);
    // Written again without what was cut off.
    out_.open(file, std::ios::trunc);
    out_ << heading << question.dump() << '\n';
    for (const SearchPoint& point : known_) out_ << line_of(point) << '\n';
    out_.flush();
    if (!out_) throw Error("{} cannot be written", file);
}

void EvaluationLog::read(const std::string& text, const Question& question) {
    std::istringstream in(text);
    std::string line;
    if (!std::getline(in, line)) return;
    if (const Question there = question_of_line(line, file_); there != question)
        throw Error("{} is the checkpoint of another fit: {}. Give another file, or remove it to start again", file_,
                    differences(there, question));
    while (std::getline(in, line)) {
        auto point = point_of(line);
        if (!point) return;
        known_.push_back(std::move(*point));
    }
}

SearchPoint EvaluationLog::next(const std::vector<double>& logs) {
    SearchPoint point = std::move(known_.at(at_++));
    if (point.logs != logs)
        throw Error("{} does not fit this search: evaluation {} was at other parameters. Remove it to start again",
                    file_, at_);
    return point;
}

void EvaluationLog::add(const SearchPoint& point) {
    if (!out_.is_open()) return;
    out_ << line_of(point) << '\n' << std::flush;
    if (out_) ++added_;
    if (out_) return;
    lost_ = fmt::format(
        "{} could not be written any more after {} evaluations of this run (is the disk full?): a fit that is stopped "
        "goes on from there",
        file_, added_);
    out_.close();
}

}  // namespace tesela::geo
