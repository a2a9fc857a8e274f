#pragma once

#include "tesela/base/index.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

using Row = nlohmann::ordered_json;  ///< an object: column name to number, text or null

/// Rows that runs on different numbers of nodes bring to one CSV file: each has "nodes" among its columns, and a run
/// replaces those of its own number.
class NodeTable {
public:
    /// Rows of earlier runs on other numbers of nodes are read from the file, if it is there and has these columns.
    NodeTable(std::string path, Index nodes, const std::vector<Row>& rows);

    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
    void write() const;

private:
    void keep_others(Index nodes, const Row& like);

    std::string path_;
    std::vector<Row> rows_;
};

}  // namespace tesela::bench
