#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tesela::trace {

/// A column of names: a code per row into a short list of names; -1 is no name.
struct Names {
    std::vector<std::int32_t> codes;
    std::vector<std::string> names;

    void add(const std::string& name);
    [[nodiscard]] const std::string& at(std::size_t row) const;
};

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

struct Column {
    std::string name;
    std::variant<Integers, Reals, Names> values;
};

/// A table for files and pages: named columns of one length. Times are seconds; NaN is a value that is not known.
struct Table {
    std::string name;
    std::vector<Column> columns;

    [[nodiscard]] std::size_t rows() const;
    /// Throws Error naming the columns if there is none of that name.
    [[nodiscard]] const Column& column(std::string_view column_name) const;
    [[nodiscard]] const Integers& integers(std::string_view column_name) const;
    [[nodiscard]] const Reals& reals(std::string_view column_name) const;
    [[nodiscard]] const Names& names(std::string_view column_name) const;
};

/// Writes a table as CSV with a header, in pieces; numbers read back to the same value and NaN is NA.
void write_csv(const Table& table, const std::function<void(std::string_view)>& write);
[[nodiscard]] std::string to_csv(const Table& table);

}  // namespace tesela::trace
