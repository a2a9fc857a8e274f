#pragma once

#include "tesela/base/index.hpp"
#include "tesela/base/names.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

enum class CsvDelimiter { automatic, comma, semicolon, tab };

/// Whether the first line names the columns. automatic: it does unless all that follows its first field are numbers (or
/// its only field is one), and then too if these are what the rows are called.
enum class CsvHeader { present, absent, automatic };

struct CsvOptions {
    /// automatic: the one that is in the first line outside quotes. Where there are several, semicolons if the commas
    /// are those of numbers, else the one that is as often in each of the next lines; Error if that is not one.
    CsvDelimiter delimiter = CsvDelimiter::automatic;
    CsvHeader header = CsvHeader::present;
};

/// What to do with a row that has no value in a wanted column (empty, NA, NaN, nan, null): leave it out, or fail.
enum class NaPolicy { drop, error };
inline constexpr Names<NaPolicy, 2> na_policy_names{{{NaPolicy::error, "error"}, {NaPolicy::drop, "drop"}}};

enum class CsvContent { numbers, text, mixed };

/// Columns of numbers, all of the same length and without missing values.
struct NumericTable {
    std::vector<std::vector<double>> columns;  ///< in the order asked for
    std::vector<Index> lines;                  ///< the line of the file where each kept row begins
    std::vector<Index> rows;                   ///< which of the table's rows it is
    Index rows_read = 0;
    Index rows_dropped = 0;
    std::vector<Index> missing;  ///< per column, those that are only to be present last, in how many rows it had none
};

/// A CSV file in memory (RFC 4180: a header, quoted fields with "" for a quote, commas and newlines inside quotes).
/// Every row has as many fields as the header; where R's write.table() gave a name to each row and none to their
/// column, that is "". Blank lines are skipped; a BOM, CRLF, lone CR and Excel's first line `sep=;` are understood.
/// Between semicolons numbers may have decimal commas, if none has a decimal point.
class CsvTable {
public:
    [[nodiscard]] const std::string& file() const { return file_; }
    /// The header; the numbers of the columns from 1 on where there is none.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    [[nodiscard]] bool has_header() const { return has_header_; }
    [[nodiscard]] Index rows() const { return static_cast<Index>(lines_.size()); }
    /// Without quotes, and with points for the decimal commas of a column of numbers; valid as long as the table.
    [[nodiscard]] std::string_view field(Index row, Index column) const;
    /// The same for a name: with its commas.
    [[nodiscard]] std::string label(Index row, Index column) const;
    /// The line of the file where a row begins, from 1.
    [[nodiscard]] Index line(Index row) const { return lines_[static_cast<std::size_t>(row)]; }

    /// A field as a finite number, NaN if it is missing. Throws Error naming file, line and column if it is neither.
    [[nodiscard]] double number(Index row, Index column) const;

    /// The position of a column. Throws Error naming the available ones, and the nearest, if there is none or several.
    [[nodiscard]] Index column(std::string_view name) const;
    /// The named columns as numbers. Throws Error naming file, line and column of the first text that is no number.
    /// Rows where one of `present` has no value are missing one too; what it holds is otherwise not looked at.
    [[nodiscard]] NumericTable numbers(const std::vector<std::string>& columns, NaPolicy policy,
                                       const std::vector<std::string>& present = {}) const;
    /// What the values of a column are, missing ones aside: all numbers, none, or some. One that is written as number()
    /// refuses it, with a decimal comma or separators of thousands, is one.
    [[nodiscard]] CsvContent content(std::string_view column) const;
    [[nodiscard]] CsvContent content(Index column) const;

private:
    friend class CsvParser;
    /// Makes points of the commas in columns of numbers, and keeps where the first was.
    void take_decimal_commas();
    /// Whether the first row has the names of all other rows, as in a table of distances between numbered points.
    [[nodiscard]] bool names_rows_in_first() const;
    void make_first_row_the_header();

    std::string file_;
    std::vector<std::string> names_;
    std::string text_;               // every field of every row, unquoted, one after the other
    std::vector<std::size_t> ends_;  // where each field ends in text_
    std::vector<Index> lines_;
    Index header_line_ = 1;
    char delimiter_ = ',';
    std::string first_comma_;          // "'1,5' in line 2, column 'x'"; empty if no number has a decimal comma
    std::vector<bool> comma_columns_;  // those that had decimal commas and nothing else
    bool has_header_ = true;
};

/// Reads a file (`-`: standard input) in one pass. Throws Error of one line naming file and line.
[[nodiscard]] CsvTable read_csv(const std::string& path, CsvOptions options = {});

/// The same for text already in memory; `file` is its name in error messages.
[[nodiscard]] CsvTable parse_csv(std::string text, std::string file, CsvOptions options = {});

/// Names with commas between them as the header of a CSV file has them, so that one with a comma in it can be given in
/// quotes: `"east, m",north`. `source` is what they are called in error messages.
[[nodiscard]] std::vector<std::string> parse_csv_names(std::string text, std::string source);

/// A named column to be written.
struct CsvColumn {
    std::string name;
    std::span<const double> values;
};

/// A named column of text, which is quoted where it has to be and otherwise written as it is.
struct CsvTextColumn {
    std::string name;
    std::vector<std::string_view> values;
};

/// Writes columns of equal length with a header, whole or not at all: shortest numbers that read back to the same
/// double, NaN as NA. Throws Error if the lengths differ or the file cannot be written.
void write_csv(const std::string& path, const std::vector<CsvColumn>& columns);
/// The same with columns of text before those of numbers.
void write_csv(const std::string& path, const std::vector<CsvTextColumn>& texts, const std::vector<CsvColumn>& numbers);

/// Whether two lists hold the same names, whatever their order and the blanks around them.
[[nodiscard]] bool are_same_names(std::vector<std::string_view> some, std::vector<std::string_view> others);

}  // namespace tesela
