#include "tesela/algs/reduction_tree.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>

namespace tesela {
namespace {

using Tiles = std::vector<PanelTile>;

/// Tiles by who owns them, in the order in which owners appear; all in one group where owners do not matter.
std::vector<Tiles> groups_of(std::span<const PanelTile> tiles, Reduction reduction) {
    std::vector<Tiles> groups;
    for (const PanelTile& tile : tiles) {
        const auto same = std::ranges::find_if(groups, [&](const Tiles& group) {
            return reduction != Reduction::automatic || group.front().owner == tile.owner;
        });
        if (same == groups.end())
            groups.push_back({tile});
        else
            same->push_back(tile);
    }
    return groups;
}

Index domain_size(Index tiles, const ReductionRule& rule) {
    switch (rule.reduction) {
        case Reduction::flat: return tiles;
        case Reduction::binary: return 1;
        case Reduction::domains: return rule.domain;
        case Reduction::automatic: return ceil_div(tiles, std::min(tiles, rule.domains_per_node));
    }
    return tiles;
}

class Builder {
public:
    explicit Builder(const ReductionRule& rule) : rule_(rule) {}

    /// Domains of tiles that can lead one, and behind the last of them those that cannot.
    void add(const Tiles& group) {
        std::vector<Index> leading;
        std::vector<Index> others;
        for (const PanelTile& tile : group) {
            const bool first = tree_.domains.empty() && leading.empty();
            (first || tile.height == PanelTile::Height::full ? leading : others).push_back(tile.row);
        }
        const auto count = static_cast<Index>(leading.size());
        std::vector<Index> numbers;
        for (Index first = 0; first < count; first += domain_size(count, rule_)) {
            const Index last = std::min(count, first + domain_size(count, rule_));
            numbers.push_back(static_cast<Index>(tree_.domains.size()));
            tree_.domains.emplace_back(leading.begin() + first, leading.begin() + last);
        }
        auto& joined = numbers.empty() ? tree_.domains.front() : tree_.domains.back();
        joined.insert(joined.end(), others.begin(), others.end());
        if (numbers.empty()) return;
        merge(numbers, 0);
        roots_.push_back(numbers.front());
        levels_ = std::max(levels_, height(numbers));
    }
    [[nodiscard]] ReductionTree finish() {
        merge(roots_, levels_);
        std::ranges::stable_sort(tree_.merges, {}, &ReductionTree::Merge::level);
        return std::move(tree_);
    }

private:
    static Index height(const std::vector<Index>& domains) {
        Index levels = 0;
        for (std::size_t reach = 1; reach < domains.size(); reach *= 2) ++levels;
        return levels;
    }
    /// Into the first of them, by pairs.
    void merge(const std::vector<Index>& domains, Index level) {
        for (std::size_t gap = 1; gap < domains.size(); gap *= 2, ++level)
            for (std::size_t i = 0; i + gap < domains.size(); i += 2 * gap)
                tree_.merges.push_back({.into = domains[i], .from = domains[i + gap], .level = level});
    }

    const ReductionRule& rule_;
    ReductionTree tree_;
    std::vector<Index> roots_;
    Index levels_ = 0;  ///< of what has been merged so far
};

}  // namespace

Index ReductionTree::longest_domain() const {
    std::size_t longest = 0;
    for (const auto& domain : domains) longest = std::max(longest, domain.size());
    return static_cast<Index>(longest);
}

ReductionTree reduction_tree(std::span<const PanelTile> tiles, const ReductionRule& rule) {
    if (rule.domain < 1) throw Error("a domain of QR's reduction needs at least 1 tile; it has {}", rule.domain);
    if (rule.domains_per_node < 1)
        throw Error("a node needs at least 1 domain of QR's reduction; it has {}", rule.domains_per_node);
    Builder builder(rule);
    for (const Tiles& group : groups_of(tiles, rule.reduction)) builder.add(group);
    return builder.finish();
}

}  // namespace tesela
