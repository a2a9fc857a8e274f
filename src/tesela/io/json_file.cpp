#include "tesela/io/json_file.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/output_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace tesela {
namespace {

constexpr int most_depth = 100;

/// What the library says, without its identifier and its own idea of the position:
/// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …" -> "syntax error …".
std::string_view bare_message(std::string_view what) {
    const std::size_t identifier = what.find("] ");
    if (identifier != std::string_view::npos) what.remove_prefix(identifier + 2);
    if (what.substr(0, 11) != "parse error") return what;
    const std::size_t colon = what.find(": ");
    return colon == std::string_view::npos ? what : what.substr(colon + 2);
}

struct Position {
    std::ptrdiff_t line;
    std::ptrdiff_t column;
};

/// Line and column, from 1, of the character after `length` characters of a text.
Position position_after(std::string_view text, std::size_t length) {
    const std::string_view before = text.substr(0, length);
    const std::size_t last_break = before.rfind('\n');
    const std::size_t line_start = last_break == std::string_view::npos ? 0 : last_break + 1;
    return {1 + std::count(before.begin(), before.end(), '\n'),
            1 + static_cast<std::ptrdiff_t>(before.size() - line_start)};
}

/// Refuses what the library would take: values nested so deep that recursion overflows the stack, and a key that an
/// object has twice, of which the library keeps the last.
class Refusal {
public:
    explicit Refusal(const std::string& file) : file_(file) {}

    bool operator()(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& value) {
        if (depth > most_depth) throw Error("{} has values nested more than {} deep", in_quotes(file_), most_depth);
        using Event = nlohmann::json::parse_event_t;
        if (event == Event::object_start) keys_.emplace_back();
        if (event == Event::object_end) keys_.pop_back();
        if (event == Event::key && !keys_.back().insert(value.get<std::string>()).second)
            throw Error("{} has the key \"{}\" twice in one object", in_quotes(file_), value.get<std::string>());
        return true;
    }

private:
    const std::string& file_;
    std::vector<std::set<std::string>> keys_;  ///< of the objects that are open, the innermost last
};

}  // namespace

nlohmann::json read_json_file(const std::string& path) { return parse_json(read_file(path), path); }

nlohmann::json parse_json(const std::string& text, const std::string& file) {
    if (text.find_first_not_of(" \t\r\n") == std::string::npos)
        throw Error("{} is empty; a JSON value is expected", in_quotes(file));
    try {
        return nlohmann::json::parse(text, Refusal(file));
    } catch (const nlohmann::json::parse_error& error) {
        // error.byte counts the characters read, the offending one included.
        const Position at = position_after(text, error.byte == 0 ? 0 : error.byte - 1);
        throw Error("{}, line {}, column {}: not valid JSON: {}", in_quotes(file), at.line, at.column,
                    bare_message(error.what()));
    } catch (const nlohmann::json::exception& error) {
        throw Error("{}: {}", in_quotes(file), bare_message(error.what()));
    }
}

void write_json_file(const std::string& path, const nlohmann::ordered_json& value) {
    std::string text;
    try {
        text = value.dump(2);
    } catch (const nlohmann::json::exception& error) {
        throw Error("cannot write {}: {}", in_quotes(path), bare_message(error.what()));
    }
    write_file(path, text + '\n');
}

}  // namespace tesela
