// Feeds bytes to the CSV reader and takes every column that it finds for numbers, and all of them for a matrix. Only
// tesela::Error of one line may come out.

#include "tesela/io/csv.hpp"
#include "require.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/csv_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace tesela;  // NOLINT(google-build-using-namespace): a program
using fuzz::one_line_at_most;
using fuzz::require;

void check_numbers(const CsvTable& table, const std::vector<std::string>& columns, NaPolicy policy) {
    const NumericTable numbers = table.numbers(columns, policy);
    require(numbers.rows_read == table.rows(), "every row is read");
    const auto kept = static_cast<std::size_t>(numbers.rows_read - numbers.rows_dropped);
    require(numbers.lines.size() == kept, "every row that is kept has a line");
    require(numbers.columns.size() == columns.size(), "there are as many columns as were asked for");
    for (const std::vector<double>& column : numbers.columns) {
        require(column.size() == kept, "all columns have the rows that are kept");
        require(std::all_of(column.begin(), column.end(), [](double x) { return std::isfinite(x); }), "all is finite");
    }
}

void check_fields(const CsvTable& table, std::size_t bytes) {
    std::size_t length = 0;
    for (Index row = 0; row < table.rows(); ++row)
        for (std::size_t column = 0; column < table.names().size(); ++column)
            length += table.field(row, static_cast<Index>(column)).size();
    require(length <= bytes, "unquoting makes nothing longer");
}

void read_all(const std::string& text) {
    const CsvTable table = parse_csv(text, "fuzz");
    check_fields(table, text.size());
    for (const std::string& name : table.names())
        one_line_at_most([&] { check_numbers(table, {name}, NaPolicy::drop); });
    one_line_at_most([&] { check_numbers(table, table.names(), NaPolicy::error); });
    one_line_at_most([&] { (void)table.column("zinc"); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    one_line_at_most([&] { read_all(text); });
    one_line_at_most([&] { (void)parse_csv_matrix(text, "fuzz"); });
    return 0;
}
