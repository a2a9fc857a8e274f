#pragma once

#include "table.hpp"

#include "tesela/base/index.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// Rows that runs on different numbers of nodes bring to one CSV file: each has "nodes" among its columns, and a run
/// replaces those of its own number. The file has a line "# nodes N: …" for each number, which says where its rows come
/// from: those that are kept keep theirs.
class NodeTable {
public:
    /// Rows of earlier runs on other numbers of nodes are read from the file, if it is there and has these columns.
    NodeTable(std::string path, Index nodes, const std::vector<Row>& rows);

    [[nodiscard]] const std::vector<Row>& rows() const { return table_.rows; }
    void write(Digits digits = Digits::measured) const { write_table(path_, table_, digits); }

private:
    void say_origins(Index nodes, const std::vector<std::string>& before);

    std::string path_;
    Table table_;
};

}  // namespace tesela::bench
