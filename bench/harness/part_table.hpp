#pragma once

#include "harness/table.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// Rows that several runs bring to one CSV file, each a part of it: those with the same value in one column, such as
/// "nodes". A run replaces its own part. The file has a line "# COLUMN VALUE: …" for each, which says where its rows
/// come from: those that are kept keep theirs.
class PartTable {
public:
    /// `rows` have one value in `column`. Those with other values are read from the file, if it is there and has these
    /// columns.
    PartTable(std::string path, std::string column, const std::vector<Row>& rows);

    [[nodiscard]] const std::vector<Row>& rows() const { return table_.rows; }
    void write(Digits digits = Digits::measured) const { write_table(path_, table_, digits); }

private:
    void say_origins(const Row& replaced, const std::vector<std::string>& before);
    [[nodiscard]] std::string prefix_of(const Row& part) const;

    std::string path_;
    std::string column_;
    Table table_;
};

}  // namespace tesela::bench
