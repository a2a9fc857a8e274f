#include "paper002/bars.hpp"

#include "tesela/base/index.hpp"
#include "tesela/base/median.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace tesela::bench {
namespace {

using Rows = std::vector<Row>;

double number(const Row& row, const char* column) { return row.at(column).get<double>(); }

bool has(const Row& row, const char* column, const std::string& text) { return row.at(column) == text; }

Index nodes_of(const Rows& rows) { return rows.front().at("nodes").get<Index>(); }

double sum(const Rows& rows, const char* column) {
    double total = 0;
    for (const Row& row : rows) total += number(row, column);
    return total;
}

std::vector<double> ratios(const Rows& rows, const char* of, const char* to) {
    std::vector<double> all;
    all.reserve(rows.size());
    for (const Row& row : rows) all.push_back(number(row, of) / number(row, to));
    return all;
}

/// Those with the largest number in a column.
Rows largest(const Rows& rows, const char* column) {
    double most = 0;
    for (const Row& row : rows) most = std::max(most, number(row, column));
    Rows found;
    std::ranges::copy_if(rows, std::back_inserter(found), [&](const Row& row) { return number(row, column) == most; });
    return found;
}

std::vector<Check> judge_scalapack(const Rows& rows) {
    struct Bar {
        Index nodes;
        const char* name;
        double times;
    };
    std::vector<Check> checks;
    for (const Bar& bar : {Bar{2, "960 to 400", 2.5}, Bar{4, "960 to 400", 1.6}, Bar{4, "128 to 64", 1.5}})
        for (const Row& row : rows)
            if (bar.nodes == nodes_of(rows) && has(row, "case", bar.name))
                checks.push_back(at_least(fmt::format("{} nodes, {}: times as fast as pdgemr2d", bar.nodes, bar.name),
                                          number(row, "ratio"), bar.times));
    return checks;
}

std::vector<Check> judge_overlap(const Rows& rows) {
    return {
        above(fmt::format("{} nodes: share of the time that all sizes together save without a barrier", nodes_of(rows)),
              1 - sum(rows, "without_barrier") / sum(rows, "with_barrier"), 0)};
}

std::vector<Check> judge_simulated_overlap(const Rows& rows) {
    double least = 1;
    for (const Row& row : rows) least = std::min(least, number(row, "saved_share"));
    return {above("simulated: share of the time saved without a barrier, least of all cases", least, 0)};
}

double least(const Rows& rows, const char* column) {
    double value = number(rows.front(), column);
    for (const Row& row : rows) value = std::min(value, number(row, column));
    return value;
}

std::vector<Check> judge_simulated_messages(const Rows& rows) {
    return {above("simulated: tiles of 800 bytes that share messages, times as fast, least of all numbers of nodes",
                  least(rows, "speedup"), 1)};
}

std::vector<Check> judge_simulated_patterns(const Rows& rows) {
    std::vector<Check> checks;
    for (const char* pattern : {"scatter", "gather"}) {
        Rows of_pattern;
        std::ranges::copy_if(rows, std::back_inserter(of_pattern),
                             [&](const Row& row) { return has(row, "pattern", pattern); });
        checks.push_back(
            at_least(fmt::format("simulated: {} with the largest segments, achieved over bound, median", pattern),
                     median(ratios(largest(of_pattern, "message_bytes"), "achieved", "bound")), 0.8));
    }
    return checks;
}

std::vector<Check> judge_simulated_random(const Rows& rows) {
    return {at_most("simulated: bandwidth of block-cyclic over random with the largest tiles",
                    number(largest(rows, "message_bytes").front(), "speedup_block_cyclic"), 1.25)};
}

std::vector<Check> judge_simulated_scalapack(const Rows& rows) {
    return {above("simulated: gather with the largest segments beside a model of pdgemr2d, times as fast, least of all",
                  least(largest(rows, "message_bytes"), "speedup"), 1)};
}

std::vector<Check> judge_simulated_applications(const Rows& rows) {
    double most = 0;
    for (const char* algorithm : {"cholesky", "gemm"}) {
        Rows of_equal_tiles;
        std::ranges::copy_if(rows, std::back_inserter(of_equal_tiles), [&](const Row& row) {
            return has(row, "algorithm", algorithm) && row.at("block") == row.at("tile");
        });
        most = std::max(most, number(largest(of_equal_tiles, "n").front(), "overhead"));
    }
    return {
        at_most("simulated: overhead of both redistributions between equal tiles at the largest orders", most, 0.1)};
}

std::vector<Check> judge_cholesky(const Rows& rows) {
    std::vector<Check> checks;
    for (const Row& row : rows)
        if (has(row, "case", "tile size"))
            checks.push_back(above(fmt::format("{} nodes, n = {}: Cholesky with its tile size corrected, times as fast",
                                               nodes_of(rows), row.at("n").dump()),
                                   number(row, "speedup"), 1));
    return checks;
}

std::vector<Check> judge_random(const Rows& rows) {
    return {at_most(fmt::format("{} nodes: time of random to random over block-cyclic, median", nodes_of(rows)),
                    median(ratios(rows, "seconds_random", "seconds_block_cyclic")), 1.25)};
}

std::vector<Check> judge_categories(const Rows& rows) {
    if (nodes_of(rows) != 2) return {};  // more share the cores of one machine
    const Rows large = largest(rows, "message_bytes");
    return {at_least(fmt::format("2 nodes, segments of {} bytes: achieved over bound, median",
                                 large.front().at("message_bytes").dump()),
                     median(ratios(large, "achieved", "bound")), 0.6)};
}

std::vector<Check> judge_switches(const Rows& rows) {
    Rows of_volume;
    std::ranges::copy_if(rows, std::back_inserter(of_volume),
                         [](const Row& row) { return has(row, "switch", "dynamic_volume"); });
    if (of_volume.empty()) return {};
    double best = 0;
    for (const Row& row : largest(of_volume, "volume_ratio")) best = std::max(best, number(row, "speedup"));
    return {
        at_least(fmt::format("{} nodes: dynamic_volume where most is saved, times as fast", nodes_of(rows)), best, 2)};
}

}  // namespace

std::vector<Check> paper002_checks(const std::string& section, const std::vector<Row>& rows) {
    static const std::map<std::string, std::function<std::vector<Check>(const Rows&)>> bars{
        {"scalapack", judge_scalapack},
        {"overlap", judge_overlap},
        {"overlap_simulated", judge_simulated_overlap},
        {"cholesky", judge_cholesky},
        {"random", judge_random},
        {"categories", judge_categories},
        {"switches", judge_switches},
        {"messages_simulated", judge_simulated_messages},
        {"patterns_simulated", judge_simulated_patterns},
        {"random_simulated", judge_simulated_random},
        {"scalapack_simulated", judge_simulated_scalapack},
        {"applications_simulated", judge_simulated_applications}};
    const auto found = bars.find(section);
    return rows.empty() || found == bars.end() ? std::vector<Check>{} : found->second(rows);
}

}  // namespace tesela::bench
