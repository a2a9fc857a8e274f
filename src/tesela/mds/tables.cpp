#include "tesela/mds/tables.hpp"

#include "tesela/io/csv.hpp"

#include <fmt/format.h>

#include <utility>

namespace tesela::mds {
namespace {

void add_columns(Table& table, const std::string& prefix, const std::vector<double>& values, Index points) {
    for (Index k = 0; (k + 1) * points <= static_cast<Index>(values.size()); ++k) {
        table.names.push_back(fmt::format("{}{}", prefix, k + 1));
        table.columns.emplace_back(values.begin() + k * points, values.begin() + (k + 1) * points);
    }
}

}  // namespace

void write(const std::string& path, const Table& table) {
    std::vector<CsvTextColumn> texts;
    if (!table.labels.empty()) texts.push_back({"label", {table.labels.begin(), table.labels.end()}});
    std::vector<CsvColumn> numbers;
    for (std::size_t c = 0; c < table.columns.size(); ++c) numbers.push_back({table.names[c], table.columns[c]});
    write_csv(path, texts, numbers);
}

Table coordinate_table(const std::string& prefix, const std::vector<double>& coordinates,
                       std::vector<std::string> labels, Index points) {
    Table table{.labels = std::move(labels)};
    add_columns(table, prefix, coordinates, points);
    return table;
}

Table loading_table(const Components& components, std::vector<std::string> names) {
    return coordinate_table("PC", components.decomposition.right, std::move(names), components.decomposition.cols);
}

Table profile_table(const ProfilePoints& points, std::vector<std::string> labels) {
    const auto count = static_cast<Index>(points.masses.size());
    Table table{.labels = std::move(labels),
                .names = {"mass", "distance", "inertia"},
                .columns = {points.masses, points.distances, points.inertias}};
    add_columns(table, "dim", points.coordinates, count);
    add_columns(table, "contribution", points.contributions, count);
    add_columns(table, "cos2_", points.squared_cosines, count);
    return table;
}

}  // namespace tesela::mds
