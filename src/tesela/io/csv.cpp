#include "tesela/io/csv.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/near_word.hpp"
#include "tesela/base/units.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/internal/csv_text.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace tesela {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

bool is_missing(std::string_view text) {
    return text.empty() || text == "NA" || text == "NaN" || text == "nan" || text == "null";
}

/// The number that is all of `text`, or nothing.
std::optional<double> parse_number(std::string_view text) {
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, value);
    if (status != std::errc{} || stop != end) return std::nullopt;
    return value;
}

std::string with_points(std::string_view text) {
    std::string result(text);
    std::replace(result.begin(), result.end(), ',', '.');
    return result;
}

std::string without_commas(std::string_view text) {
    std::string result(text);
    std::erase(result, ',');
    return result;
}

/// The number with a decimal comma that is all of `text`, or nothing.
std::optional<double> parse_comma_number(std::string_view text) {
    return text.find(',') == std::string_view::npos ? std::nullopt : parse_number(with_points(text));
}

/// The number in a file whose fields are separated by `delimiter`: semicolons leave the comma to numbers.
std::optional<double> parse_number(std::string_view text, char delimiter) {
    const std::optional<double> number = parse_number(text);
    return number || delimiter != ';' ? number : parse_comma_number(text);
}

/// Whether a text is a number with separators between its thousands: 1,234,567 or 1.234,5 or 1 234.
bool has_thousands(std::string_view text) {
    constexpr std::array<std::string_view, 7> marks{",", ".", " ", "'", "\u00a0", "\u202f", "\u2019"};
    const auto take_digits = [&text] {
        const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
        text.remove_prefix(count);
        return count;
    };
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (const std::size_t first = take_digits(); first < 1 || first > 3) return false;
    const auto* const mark =
        std::find_if(marks.begin(), marks.end(), [&](auto each) { return text.starts_with(each); });
    if (mark == marks.end()) return false;
    while (text.starts_with(*mark)) {
        text.remove_prefix(mark->size());
        if (take_digits() != 3) return false;
    }
    if (text.starts_with('.') || text.starts_with(',')) text.remove_prefix(1);
    take_digits();
    return text.empty();
}

/// Whether a text is a number to people, in one of the forms that not_a_number() explains.
bool is_refused_number(std::string_view text) { return parse_comma_number(text) || has_thousands(text); }

/// Why parse_number() refused a text, and what to do.
std::string not_a_number(std::string_view text) {
    double value = 0;
    const char* end = text.data() + text.size();
    if (const auto parsed = std::from_chars(text.data(), end, value);
        parsed.ptr == end && parsed.ec == std::errc::result_out_of_range)
        return fmt::format("{} is out of the range of a double", excerpt(text));
    if (parse_comma_number(text) && has_thousands(text))
        return fmt::format("{} has a comma that is a decimal one or one of thousands; write {} or {}", excerpt(text),
                           with_points(text), without_commas(text));
    if (has_thousands(text))
        return fmt::format("{} is not a number; write it without separators of thousands", excerpt(text));
    if (parse_comma_number(text))
        return fmt::format("{} has a decimal comma; write {}, or separate the fields by semicolons", excerpt(text),
                           with_points(text));
    return fmt::format("{} is not a number", excerpt(text));
}

/// "; did you mean 'zinc'?" when a name is near enough, else nothing.
std::string suggestion(std::string_view name, const std::vector<std::string>& names) {
    const auto nearest = nearest_word(name, names);
    return nearest ? fmt::format("; did you mean {}?", excerpt(*nearest)) : ";";
}

std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t limit = 30;
    std::string list;
    for (std::size_t i = 0; i < std::min(limit, names.size()); ++i) {
        if (i > 0) list += ", ";
        list += excerpt(names[i]);
    }
    if (names.size() > limit) list += fmt::format(" and {} more", names.size() - limit);
    return list;
}

/// What may separate fields.
struct Separator {
    char character;
    const char* name;
};
constexpr std::array separators{Separator{',', "commas"}, Separator{';', "semicolons"}, Separator{'\t', "tabs"}};

/// How many of each separator are outside of quotes.
using SeparatorCounts = std::array<std::size_t, separators.size()>;

SeparatorCounts count_separators(std::string_view text) {
    SeparatorCounts counts{};
    bool inside = false;
    char before = ' ';
    for (const char c : text) {
        if (c == '"') inside = !inside;
        const bool blank = c == '\t' && (before == ',' || before == ';');  // after another separator
        for (std::size_t k = 0; k < separators.size() && !inside && !blank; ++k)
            counts[k] += c == separators[k].character ? 1U : 0U;
        before = c;
    }
    return counts;
}

/// Takes away what comes before the first of some characters that is outside of quotes.
std::string_view take_until(std::string_view& text, std::string_view ends) {
    std::size_t length = 0;
    for (bool inside = false; length < text.size(); ++length) {
        if (text[length] == '"') inside = !inside;
        if (!inside && ends.find(text[length]) != std::string_view::npos) break;
    }
    const std::string_view taken = text.substr(0, length);
    text.remove_prefix(length);
    return taken;
}

/// The next line that is not blank; empty at the end.
std::string_view take_line(std::string_view& text) {
    constexpr std::string_view line_ends = "\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(line_ends), text.size()));
    return take_until(text, line_ends);
}

/// Whether a line has semicolons, and other separators only as the commas of numbers between them.
bool has_semicolons_and_decimal_commas(std::string_view line) {
    bool several = false;
    for (;;) {
        const std::string_view field = take_until(line, ";");
        if (count_separators(field) != SeparatorCounts{} && !parse_comma_number(trimmed(field))) return false;
        if (line.empty()) return several;
        line.remove_prefix(1);
        several = true;
    }
}

/// Which of the separators fit a text: those in its first line that are as many in each of the next lines.
std::vector<Separator> fitting_separators(std::string_view text) {
    constexpr int lines_compared = 20;
    const SeparatorCounts first = count_separators(take_line(text));
    SeparatorCounts differ{};
    std::string_view line = take_line(text);
    for (int i = 1; i < lines_compared && !line.empty(); ++i, line = take_line(text)) {
        const SeparatorCounts counts = count_separators(line);
        for (std::size_t k = 0; k < separators.size(); ++k) differ[k] += counts[k] != first[k] ? 1U : 0U;
    }
    std::vector<Separator> fitting;
    for (std::size_t k = 0; k < separators.size(); ++k)
        if (first[k] > 0 && differ[k] == 0) fitting.push_back(separators[k]);
    return fitting;
}

/// The separators in a line.
std::vector<Separator> separators_in(std::string_view line) {
    const SeparatorCounts counts = count_separators(line);
    std::vector<Separator> found;
    for (std::size_t k = 0; k < separators.size(); ++k)
        if (counts[k] > 0) found.push_back(separators[k]);
    return found;
}

/// "commas, semicolons and tabs"
std::string names_of(const std::vector<Separator>& some) {
    std::string list;
    for (std::size_t k = 0; k < some.size(); ++k)
        list += fmt::format("{}{}", k == 0 ? "" : k + 1 == some.size() ? " and " : ", ", some[k].name);
    return list;
}

std::string_view without_byte_order_mark(std::string_view text) {
    return text.substr(text.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0);
}

/// Line breaks in a text: \n, \r\n and lone \r count one each.
Index line_breaks(std::string_view text) {
    Index count = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
        count += text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')) ? 1 : 0;
    return count;
}

/// What a file is that is no text, by its first bytes; empty if they say nothing.
std::string_view packed_as(std::string_view content) {
    if (content.starts_with("\x1f\x8b")) return "compressed by gzip: unpack it first, as with gunzip";
    if (content.starts_with("PK\x03\x04")) return "a ZIP archive, as spreadsheets are: save the table as CSV";
    if (content.starts_with("BZh") && content.size() > 4 && content.substr(4, 6) == "1AY&SY")
        return "compressed by bzip2: unpack it first, as with bunzip2";
    if (content.starts_with("\xfd\x37zXZ")) return "compressed by xz: unpack it first, as with unxz";
    return {};
}

enum class Quoting { plain, quoted };

struct Field {
    std::string text;  // without blanks, unless they are in quotes
    Quoting quoting = Quoting::plain;
};

/// Whether a line is one of numbers, the first field of several aside: then it is no header, unless that field is what
/// the rows' names are called.
bool is_data(const std::vector<Field>& fields, char delimiter) {
    const auto is_number = [=](const Field& field) { return parse_number(trimmed(field.text), delimiter).has_value(); };
    const auto number_or_missing = [&](const Field& field) { return is_missing(field.text) || is_number(field); };
    if (fields.size() == 1) return is_number(fields.front());
    if (fields.front().text.empty() || is_called_as_labels(fields.front().text)) return false;
    return std::any_of(fields.begin() + 1, fields.end(), is_number) &&
           std::all_of(fields.begin() + 1, fields.end(), number_or_missing);
}

/// Whether a line begins with the name of a row that the header has no name for, as R's write.table() writes it: in
/// quotes, as its numbers are not, or between tabs.
bool begins_with_row_name(const std::vector<Field>& fields, const std::vector<std::string>& header, char delimiter) {
    const bool one_more = fields.size() == header.size() + 1 && !fields.back().text.empty();
    if (!one_more || is_called_as_labels(header.front())) return false;
    const bool all_quoted =
        std::all_of(fields.begin(), fields.end(), [](const Field& each) { return each.quoting == Quoting::quoted; });
    if (fields.front().quoting == Quoting::quoted) return !all_quoted;
    return delimiter == '\t' && !parse_number(fields.front().text) && parse_number(fields.back().text);
}

/// Whether one of the words of a text is this one.
bool has_word(std::string_view text, std::string_view word) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
        if (text.substr(0, end) == word) return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

}  // namespace

/// Splits a text in one pass and in place: unquoting never makes a field longer, so fields are moved to the front of
/// the buffer that they are read from.
class CsvParser {
public:
    CsvParser(std::string text, std::string file, CsvOptions options) : header_(options.header) {
        table_.file_ = std::move(file);
        table_.text_ = std::move(text);
        const std::string_view content = without_byte_order_mark(table_.text_);
        at_ = content.data();
        end_ = content.data() + content.size();
        out_ = table_.text_.data();
        check_text(content);
        skip_blank_lines();
        if (at_ == end_) throw Error("{} is empty; a header and data rows are expected", in_quotes(table_.file_));
        const std::optional<char> said = take_separator_line();
        skip_blank_lines();
        delimiter_ = table_.delimiter_ =
            said && options.delimiter == CsvDelimiter::automatic ? *said : delimiter_of(options.delimiter);
        table_.has_header_ = options.header == CsvHeader::present ||
                             (options.header == CsvHeader::automatic && !is_data(next_record(), delimiter_));
    }

    /// The names of a header that is all of the text.
    std::vector<std::string> names() && {
        read_header();
        if (at_ != end_) throw Error("{} has more than one line", in_quotes(table_.file_));
        return std::move(table_.names_);
    }

    CsvTable parse() && {
        if (table_.has_header_) {
            read_header();
            skip_blank_lines();
            if (begins_with_row_name(next_record(), table_.names_, delimiter_))
                table_.names_.insert(table_.names_.begin(), "");
        } else {
            for (std::size_t k = next_record().size(); k > 0; --k)
                table_.names_.push_back(fmt::format("{}", table_.names_.size() + 1));
        }
        for (; at_ != end_; skip_blank_lines()) read_row();
        if (table_.lines_.empty()) throw Error("{} has a header but no data rows", in_quotes(table_.file_));
        table_.text_.resize(static_cast<std::size_t>(out_ - table_.text_.data()));
        if (header_ == CsvHeader::automatic && !table_.has_header_ && table_.names_rows_in_first())
            table_.make_first_row_the_header();
        if (delimiter_ == ';') table_.take_decimal_commas();
        return std::move(table_);
    }

private:
    void check_text(std::string_view content) const {
        if (const std::string_view packed = packed_as(content); !packed.empty())
            throw Error("{} is {}", in_quotes(table_.file_), packed);
        const std::size_t bad = content.find('\0');
        if (bad == std::string_view::npos) return;
        const bool utf16 = content.substr(0, 2) == "\xff\xfe" || content.substr(0, 2) == "\xfe\xff";
        throw Error("{}, line {}: a NUL byte, so not a text file{}", in_quotes(table_.file_),
                    1 + line_breaks(content.substr(0, bad)), utf16 ? "; it looks like UTF-16: save it as UTF-8" : "");
    }

    /// Takes Excel's line "sep=;" away, and says what it names.
    std::optional<char> take_separator_line() {
        const std::string_view rest{at_, static_cast<std::size_t>(end_ - at_)};
        const std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
        const bool in_quotes_too = line.size() == 7 && line.front() == '"' && line.back() == '"';
        const std::string_view said = in_quotes_too ? line.substr(1, 5) : line;
        if (said.size() != 5 || (!said.starts_with("sep=") && !said.starts_with("SEP="))) return {};
        if (std::none_of(separators.begin(), separators.end(), [&](auto each) { return each.character == said[4]; }))
            throw Error("{}, line {}: {} says that {} separates the fields; commas, semicolons and tabs can",
                        in_quotes(table_.file_), line_, excerpt(said), excerpt(said.substr(4)));
        at_ += line.size();
        skip_line_break();
        return said[4];
    }

    [[nodiscard]] char delimiter_of(CsvDelimiter asked) const {
        switch (asked) {
            case CsvDelimiter::comma: return ',';
            case CsvDelimiter::semicolon: return ';';
            case CsvDelimiter::tab: return '\t';
            case CsvDelimiter::automatic: break;
        }
        const std::string_view text{at_, static_cast<std::size_t>(end_ - at_)};
        std::string_view rest = text;
        const std::string_view line = take_line(rest);
        const std::vector<Separator> present = separators_in(line);
        if (present.empty()) return ',';
        if (present.size() == 1) return present.front().character;
        if (has_semicolons_and_decimal_commas(line)) return ';';
        const std::vector<Separator> fitting = fitting_separators(text);
        if (fitting.size() == 1) return fitting.front().character;
        throw Error(
            "{}, line {}: {} are there outside quotes, and it is not clear which of them separate the fields; put "
            "fields that hold one in quotes",
            in_quotes(table_.file_), line_, names_of(present));
    }

    /// The fields of the line that is read next, which stays to be read.
    [[nodiscard]] std::vector<Field> next_record() const {
        const char* end = at_;
        for (bool inside = false; end != end_ && (inside || (*end != '\n' && *end != '\r')); ++end)
            if (*end == '"') inside = !inside;
        return CsvParser(std::string(at_, end), *this).fields();
    }

    /// A parser of one line of what another reads.
    CsvParser(std::string text, const CsvParser& of) : delimiter_(of.delimiter_), line_(of.line_) {
        table_.file_ = of.table_.file_;
        table_.names_ = of.table_.names_;
        table_.text_ = std::move(text);
        at_ = out_ = table_.text_.data();
        end_ = at_ + table_.text_.size();
    }

    std::vector<Field> fields() {
        std::vector<Field> found;
        read_record([&](std::string_view text, Quoting quoting) {
            found.push_back({std::string(quoting == Quoting::quoted ? text : trimmed(text)), quoting});
        });
        return found;
    }

    void read_header() {
        table_.header_line_ = line_;
        for (Field& field : fields()) {
            if (field.quoting == Quoting::plain && field.text.find('"') != std::string::npos)
                throw Error("{}, line {}: the name {} has a quote inside; put it in quotes, and write that quote twice",
                            in_quotes(table_.file_), table_.header_line_, excerpt(field.text));
            table_.names_.push_back(std::move(field.text));
        }
        out_ = table_.text_.data();
    }

    void read_row() {
        const Index line = line_;
        const std::size_t wanted = table_.names_.size();
        const std::size_t before = table_.ends_.size();
        read_record([&](std::string_view, Quoting) {
            table_.ends_.push_back(static_cast<std::size_t>(out_ - table_.text_.data()));
        });
        const std::size_t found = table_.ends_.size() - before;
        if (found != wanted)
            throw Error("{}, line {}: {} field{} where the {} has {}{}", in_quotes(table_.file_), line, found,
                        plural(found), table_.has_header_ ? "header" : "first line", wanted,
                        missing_or_extra(before, found));
        table_.lines_.push_back(line);
    }

    /// Names the column where a row of the wrong length goes wrong.
    [[nodiscard]] std::string missing_or_extra(std::size_t before, std::size_t found) const {
        if (found < table_.names_.size()) return fmt::format("; column {} has none", excerpt(table_.names_[found]));
        const std::size_t begin = table_.ends_[before + table_.names_.size() - 1];
        const std::size_t length = table_.ends_[before + table_.names_.size()] - begin;
        return fmt::format("; the first after column {} is {}", excerpt(table_.names_.back()),
                           excerpt(std::string_view(table_.text_).substr(begin, length)));
    }

    template <class Visit>
    void read_record(Visit visit) {
        for (;;) {
            const char* begin = out_;
            const Quoting quoting = at_ != end_ && *at_ == '"' ? Quoting::quoted : Quoting::plain;
            if (quoting == Quoting::quoted) {
                read_quoted();
            } else {
                read_plain();
            }
            visit(std::string_view(begin, static_cast<std::size_t>(out_ - begin)), quoting);
            if (at_ == end_ || *at_ != delimiter_) break;
            ++at_;
        }
        skip_line_break();
    }

    void read_plain() {
        const char* begin = at_;
        while (at_ != end_ && *at_ != delimiter_ && *at_ != '\n' && *at_ != '\r') ++at_;
        append(begin, at_);
    }

    void read_quoted() {
        const Index opened = line_;
        for (;;) {
            const char* begin = ++at_;  // past the opening quote, or past the first of a pair
            at_ = std::find(at_, end_, '"');
            if (at_ == end_)
                throw Error("{}, line {}: a quoted field begins here and never ends", in_quotes(table_.file_), opened);
            line_ += line_breaks({begin, static_cast<std::size_t>(at_ - begin)});
            append(begin, at_);
            ++at_;
            if (at_ == end_ || *at_ != '"') break;
            *out_++ = '"';
        }
        if (at_ != end_ && *at_ == ' ' && table_.names_.empty())
            throw Error("{}, line {}: {}", in_quotes(table_.file_), line_, separated_by_spaces);
        if (at_ != end_ && *at_ != delimiter_ && *at_ != '\n' && *at_ != '\r')
            throw Error("{}, line {}: {} after a closing quote; a quote inside a quoted field is written twice",
                        in_quotes(table_.file_), line_, in_quotes({at_, 1}));
    }

    void append(const char* begin, const char* end) {
        const auto length = static_cast<std::size_t>(end - begin);
        std::memmove(out_, begin, length);
        out_ += length;
    }

    void skip_line_break() {
        if (at_ == end_) return;
        if (*at_ == '\r' && at_ + 1 != end_ && at_[1] == '\n') ++at_;
        ++at_;
        ++line_;
    }

    void skip_blank_lines() {
        while (at_ != end_ && (*at_ == '\n' || *at_ == '\r')) skip_line_break();
    }

    CsvTable table_;
    const char* at_ = nullptr;
    const char* end_ = nullptr;
    char* out_ = nullptr;  // never past at_
    char delimiter_ = ',';
    CsvHeader header_ = CsvHeader::present;
    Index line_ = 1;
};

namespace {

std::string place(const CsvTable& table, Index row, Index column) {
    return fmt::format("{}, line {}, column {}", in_quotes(table.file()), table.line(row),
                       excerpt(table.names()[static_cast<std::size_t>(column)]));
}

}  // namespace

double CsvTable::number(Index row, Index column) const {
    const std::string_view text = trimmed(field(row, column));
    if (is_missing(text)) return std::nan("");
    const std::optional<double> parsed = parse_number(text, delimiter_);
    if (!parsed) throw Error("{}: {}", place(*this, row, column), not_a_number(text));
    if (!first_comma_.empty() && text.find('.') != std::string_view::npos &&
        !comma_columns_[static_cast<std::size_t>(column)])
        throw Error("{}: {} has a decimal point, and {} a decimal comma; write all numbers with the one or the other",
                    place(*this, row, column), excerpt(text), first_comma_);
    if (std::isinf(*parsed)) throw Error("{}: {} is not finite", place(*this, row, column), excerpt(text));
    return *parsed;
}

bool is_called_as_labels(std::string_view name) {
    constexpr std::array<std::string_view, 15> words{"case",     "code", "id",     "index", "label",
                                                     "location", "name", "names",  "nr",    "obs",
                                                     "plot",     "row",  "sample", "site",  "station"};
    if (name.starts_with("Unnamed:")) return true;  // what pandas calls a column without a name
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    std::size_t begin = name.size();
    while (begin > 0 && letter(name[begin - 1])) --begin;
    std::string word(name.substr(begin));                 // the last: plot_nr
    for (char& c : word) c = static_cast<char>(c | ' ');  // small letters
    while (!word.empty()) {
        const auto* const end =
            std::find_if(words.begin(), words.end(), [&](std::string_view each) { return word.ends_with(each); });
        if (end == words.end()) return false;
        word.resize(word.size() - end->size());
    }
    return begin < name.size();
}

bool are_same_names(std::vector<std::string_view> some, std::vector<std::string_view> others) {
    for (auto* const names : {&some, &others}) {
        std::transform(names->begin(), names->end(), names->begin(), trimmed);
        std::sort(names->begin(), names->end());
    }
    return some == others;
}

bool CsvTable::names_rows_in_first() const {
    const auto count = static_cast<Index>(names_.size());
    if (count < 2 || rows() != count || parse_number(trimmed(field(0, 0)), delimiter_)) return false;
    std::vector<std::string_view> of_columns;
    std::vector<std::string_view> of_rows;
    for (Index k = 1; k < count; ++k) {
        of_columns.push_back(field(0, k));
        of_rows.push_back(field(k, 0));
    }
    return are_same_names(of_columns, of_rows);
}

void CsvTable::make_first_row_the_header() {
    const auto count = static_cast<std::ptrdiff_t>(names_.size());
    for (std::ptrdiff_t k = 0; k < count; ++k) names_[static_cast<std::size_t>(k)] = trimmed(field(0, k));
    const std::size_t taken = ends_[static_cast<std::size_t>(count) - 1];
    text_.erase(0, taken);
    ends_.erase(ends_.begin(), ends_.begin() + count);
    for (std::size_t& end : ends_) end -= taken;
    header_line_ = lines_.front();
    lines_.erase(lines_.begin());
    has_header_ = true;
}

void CsvTable::take_decimal_commas() {
    if (text_.find(',') == std::string::npos) return;
    struct Found {
        Index comma = -1;  // the first row with a decimal comma
        bool points = false;
        bool texts = false;
    };
    std::vector<Found> found(names_.size());
    const auto count = static_cast<Index>(names_.size());
    for (Index row = 0; row < rows(); ++row)
        for (Index column = 0; column < count; ++column) {
            const std::string_view text = trimmed(field(row, column));
            if (is_missing(text)) continue;
            Found& here = found[static_cast<std::size_t>(column)];
            const bool comma = parse_comma_number(text).has_value();
            if (comma && here.comma < 0) here.comma = row;
            here.points |= !comma && text.find('.') != text.npos;
            here.texts |= !comma && !parse_number(text);
        }
    comma_columns_.assign(names_.size(), false);
    for (Index column = 0; column < count; ++column) {
        const Found& here = found[static_cast<std::size_t>(column)];
        if (here.comma < 0 || here.texts) continue;  // remarks may be what they like
        if (first_comma_.empty())
            first_comma_ = fmt::format("{} in line {}, column {}", excerpt(trimmed(field(here.comma, column))),
                                       line(here.comma), excerpt(names_[static_cast<std::size_t>(column)]));
        if (here.points) continue;
        comma_columns_[static_cast<std::size_t>(column)] = true;
        for (Index row = 0; row < rows(); ++row) {
            const std::string_view text = field(row, column);
            const auto begin = text_.begin() + (text.data() - text_.data());
            std::replace(begin, begin + static_cast<std::ptrdiff_t>(text.size()), ',', '.');
        }
    }
}

std::string CsvTable::label(Index row, Index column) const {
    std::string text(field(row, column));
    const bool had_commas = !comma_columns_.empty() && comma_columns_[static_cast<std::size_t>(column)];
    if (had_commas) std::replace(text.begin(), text.end(), '.', ',');  // such a column had no points
    return text;
}

std::string_view CsvTable::field(Index row, Index column) const {
    const auto k = static_cast<std::size_t>(row) * names_.size() + static_cast<std::size_t>(column);
    const std::size_t begin = k == 0 ? 0 : ends_[k - 1];
    return std::string_view(text_).substr(begin, ends_[k] - begin);
}

Index CsvTable::column(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end() && names_.size() == 1 && has_word(names_.front(), name))
        throw Error("{}, line {}: no column {}; {}", in_quotes(file_), header_line_, excerpt(name),
                    separated_by_spaces);
    if (found == names_.end())
        throw Error("{}, line {}: no column {}{} the columns are {}", in_quotes(file_), header_line_, excerpt(name),
                    suggestion(name, names_), listed(names_));
    if (std::find(found + 1, names_.end(), name) != names_.end())
        throw Error("{}, line {}: more than one column is called {}; rename one", in_quotes(file_), header_line_,
                    excerpt(name));
    return found - names_.begin();
}

NumericTable CsvTable::numbers(const std::vector<std::string>& columns, NaPolicy policy,
                               const std::vector<std::string>& present) const {
    std::vector<std::string> all = columns;
    all.insert(all.end(), present.begin(), present.end());
    std::vector<Index> positions;
    for (const std::string& name : all) positions.push_back(column(name));
    NumericTable table;
    table.columns.resize(columns.size());
    table.missing.resize(all.size());
    table.rows_read = rows();
    std::vector<double> values(all.size());
    for (Index row = 0; row < rows(); ++row) {
        bool complete = true;
        for (std::size_t c = 0; c < all.size(); ++c) {
            values[c] = c < columns.size()                              ? number(row, positions[c])
                        : is_missing(trimmed(field(row, positions[c]))) ? std::nan("")
                                                                        : 0;
            if (!std::isnan(values[c])) continue;
            if (policy == NaPolicy::error)
                throw Error("{}: the value is missing; --na drop leaves such rows out",
                            place(*this, row, positions[c]));
            complete = false;
            ++table.missing[c];
        }
        table.rows_dropped += complete ? 0 : 1;
        if (!complete) continue;
        for (std::size_t c = 0; c < columns.size(); ++c) table.columns[c].push_back(values[c]);
        table.lines.push_back(line(row));
        table.rows.push_back(row);
    }
    if (table.rows_dropped == table.rows_read)
        throw Error("{}: no row has a value in every one of the columns {}", in_quotes(file_), listed(all));
    return table;
}

CsvContent CsvTable::content(std::string_view name) const { return content(column(name)); }

CsvContent CsvTable::content(Index position) const {
    bool numbers = false;
    bool texts = false;
    for (Index row = 0; row < rows(); ++row) {
        const std::string_view text = trimmed(field(row, position));
        const bool number = parse_number(text, delimiter_) || is_refused_number(text);
        if (!is_missing(text)) (number ? numbers : texts) = true;
    }
    return !texts ? CsvContent::numbers : numbers ? CsvContent::mixed : CsvContent::text;
}

CsvTable read_csv(const std::string& path, CsvOptions options) {
    return parse_csv(read_file(path), path == "-" ? "standard input" : path, options);
}

std::vector<std::string> parse_csv_names(std::string text, std::string source) {
    return CsvParser(std::move(text), std::move(source), {.delimiter = CsvDelimiter::comma}).names();
}

CsvTable parse_csv(std::string text, std::string file, CsvOptions options) {
    return CsvParser(std::move(text), std::move(file), options).parse();
}

std::string csv_name(std::string_view name) {
    const bool plain = !name.empty() && name.find_first_of("\",;\t\r\n") == std::string::npos && trimmed(name) == name;
    if (plain) return std::string(name);
    std::string result = "\"";
    for (const char c : name) result.append(c == '"' ? 2 : 1, c);
    return result += '"';
}

namespace {

void append_number(fmt::memory_buffer& out, double value) {
    if (std::isnan(value)) {
        out.append(std::string_view("NA"));
    } else {
        fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), value);
    }
}

void append_text(fmt::memory_buffer& out, std::string_view text) {
    if (!text.empty()) out.append(csv_name(text));  // an empty field is a missing value and needs no quotes
}

template <class Column>
void check_lengths(const std::string& path, const std::vector<Column>& columns, std::string_view first,
                   std::size_t rows) {
    for (const Column& column : columns)
        if (column.values.size() != rows)
            throw Error("cannot write {}: column {} has {} rows where column {} has {}", in_quotes(path),
                        excerpt(column.name), column.values.size(), excerpt(first), rows);
}

std::string header(const std::vector<CsvTextColumn>& texts, const std::vector<CsvColumn>& numbers) {
    std::string line;
    for (const auto& column : texts) line += csv_name(column.name) + ",";
    for (const auto& column : numbers) line += csv_name(column.name) + ",";
    line.pop_back();
    return line;
}

}  // namespace

void write_csv(const std::string& path, const std::vector<CsvColumn>& columns) { write_csv(path, {}, columns); }

void write_csv(const std::string& path, const std::vector<CsvTextColumn>& texts,
               const std::vector<CsvColumn>& numbers) {
    if (texts.empty() && numbers.empty()) throw Error("cannot write {}: there are no columns", in_quotes(path));
    const std::size_t rows = texts.empty() ? numbers.front().values.size() : texts.front().values.size();
    const std::string_view first = texts.empty() ? numbers.front().name : texts.front().name;
    check_lengths(path, texts, first, rows);
    check_lengths(path, numbers, first, rows);

    OutputFile file(path);
    file.write(header(texts, numbers));
    fmt::memory_buffer line;
    for (std::size_t row = 0; row < rows; ++row) {
        line.clear();
        for (const CsvTextColumn& column : texts) {
            line.push_back(line.size() == 0 ? '\n' : ',');
            append_text(line, column.values[row]);
        }
        for (const CsvColumn& column : numbers) {
            line.push_back(line.size() == 0 ? '\n' : ',');
            append_number(line, column.values[row]);
        }
        file.write({line.data(), line.size()});
    }
    file.write("\n");
    file.commit();
}

}  // namespace tesela
