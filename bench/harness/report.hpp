#pragma once

#include "harness/table.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// A bar, written down before the run that is to meet it.
struct Check {
    std::string bar;
    double value = 0;  ///< infinite: there is none that could meet it
    double limit = 0;
    bool met = false;
};
[[nodiscard]] Check at_most(const std::string& bar, double value, double limit);
[[nodiscard]] Check at_least(const std::string& bar, double value, double limit);
[[nodiscard]] Check above(const std::string& bar, double value, double limit);

/// What an experiment found, alike on all nodes as far as checks go: node 0 prints it.
struct Report {
    Row figures = Row::object();  ///< name to value
    std::vector<Row> rows{};      ///< all with the same columns
    std::vector<Check> checks{};
    std::vector<std::string> notes{};

    [[nodiscard]] bool met() const;
};

/// {"figure": value, …, "rows": […], "notes": […], "checks": [{"bar", "value", "limit", "met"}, …]}
[[nodiscard]] nlohmann::ordered_json as_json(const Report& report);

/// Lines for people: rows as a table, figures, notes, and the checks last.
[[nodiscard]] std::string as_text(const Report& report);

}  // namespace tesela::bench
