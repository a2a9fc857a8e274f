#include "tesela/distribution/random_subsets.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/extended_block_cyclic.hpp"
#include "tesela/distribution/node_set.hpp"
#include "tesela/distribution/powers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace tesela {
namespace {

/// Draws one after another from one stream of a seed.
class Draws {
public:
    Draws(std::uint64_t seed, std::uint64_t stream) : random_(seed), stream_(stream) {}
    Index below(Index bound) {
        return static_cast<Index>(random_.below(static_cast<std::uint64_t>(bound), {stream_, next_++}));
    }
    double uniform() { return random_.uniform({stream_, next_++}); }

private:
    Random random_;
    std::uint64_t stream_;
    std::uint64_t next_ = 0;
};

/// Families draw from the streams 0, 1, …; the order of equal tiles from this one.
constexpr auto tie_stream = ~std::uint64_t{0};

struct Families {
    std::vector<NodeSet> rows;
    std::vector<NodeSet> cols;
};

struct SubsetShape {
    Index nodes;  ///< P
    Index size;   ///< n
    Index count;  ///< Q
    const Powers& powers;
};

bool meets_all(const NodeSet& subset, const std::vector<NodeSet>& family) {
    return std::ranges::all_of(family, [&](const NodeSet& other) { return subset.meets(other); });
}

/// Without replacement in proportion to √power: the n largest of u^(1/√power), u uniform (Efraimidis and Spirakis
/// 2006).
NodeSet sample_by_power(const SubsetShape& shape, std::vector<Index>& nodes, Draws& draws) {
    std::vector<double> keys(nodes.size());
    for (std::size_t k = 0; k < keys.size(); ++k)
        keys[k] = std::log(draws.uniform()) / std::sqrt(shape.powers[static_cast<Index>(k)]);
    const auto end = nodes.begin() + shape.size;
    std::ranges::partial_sort(nodes, end, std::greater<>{},
                              [&](Index node) { return keys[static_cast<std::size_t>(node)]; });
    NodeSet subset(shape.nodes);
    for (auto node = nodes.begin(); node != end; ++node) subset.insert(*node);
    return subset;
}

NodeSet sample(const SubsetShape& shape, std::vector<Index>& nodes, Draws& draws) {
    if (!shape.powers.equal()) return sample_by_power(shape, nodes, draws);
    NodeSet subset(shape.nodes);
    for (Index k = 0; k < shape.size; ++k) {
        const Index other = k + draws.below(shape.nodes - k);
        std::swap(nodes[static_cast<std::size_t>(k)], nodes[static_cast<std::size_t>(other)]);
        subset.insert(nodes[static_cast<std::size_t>(k)]);
    }
    return subset;
}

/// Q / η, with η of equation (6) for K = 1: how many column subsets algorithm 3 expects to sample.
double expected_attempts(const SubsetShape& shape) {
    double apart = 1;  // chance that two subsets do not meet: hypergeometric
    for (Index k = 0; k < shape.size; ++k)
        apart *=
            std::max(0.0, static_cast<double>(shape.nodes - shape.size - k) / static_cast<double>(shape.nodes - k));
    return static_cast<double>(shape.count) / std::pow(1 - apart, static_cast<double>(shape.count));
}

constexpr double reasonable_attempts = 5000;
/// Below this many attempts per subset sampling is easy and its subsets are not biased towards a few common nodes.
constexpr double easy_attempts = 20;
/// Subsets that take one node of every class are made this many times Q: they are all one side has to choose from.
constexpr Index transversal_factor = 8;

/// Algorithm 3; nothing when it has not finished after ten times the attempts that are reasonable.
std::optional<Families> sampled_families(const SubsetShape& shape, Draws& draws) {
    std::vector<Index> nodes(static_cast<std::size_t>(shape.nodes));
    std::iota(nodes.begin(), nodes.end(), Index{0});
    Families families;
    for (Index q = 0; q < shape.count; ++q) families.rows.push_back(sample(shape, nodes, draws));
    for (double attempts = 0; attempts < 10 * reasonable_attempts; ++attempts) {
        const NodeSet subset = sample(shape, nodes, draws);
        if (meets_all(subset, families.rows)) families.cols.push_back(subset);
        if (static_cast<Index>(families.cols.size()) == shape.count) return families;
    }
    return std::nullopt;
}

template <class Value>
void shuffle(std::vector<Value>& values, Draws& draws) {
    for (std::size_t k = values.size(); k > 1; --k)
        std::swap(values[k - 1], values[static_cast<std::size_t>(draws.below(static_cast<Index>(k)))]);
}

/// Deals the nodes of a class one by one in random order, beginning again when all have been dealt; unequal ones in
/// proportion to their power.
class Deck {
public:
    Deck(std::vector<Index> nodes, const Powers& powers)
        : nodes_(std::move(nodes)),
          powers_(powers),
          times_(nodes_.size()),
          dealt_(nodes_.size()) {}
    Index deal(Draws& draws) {
        if (!powers_.equal()) return deal_by_power();
        if (dealt_ == nodes_.size()) {
            shuffle(nodes_, draws);
            dealt_ = 0;
        }
        return nodes_[dealt_++];
    }

private:
    /// The node whose share is furthest behind: nodes lie in random order already.
    Index deal_by_power() {
        std::size_t next = 0;
        for (std::size_t k = 1; k < nodes_.size(); ++k)
            if (powers_.time(nodes_[k], times_[k] + 1) < powers_.time(nodes_[next], times_[next] + 1)) next = k;
        ++times_[next];
        return nodes_[next];
    }

    std::vector<Index> nodes_;
    const Powers& powers_;
    std::vector<double> times_;
    std::size_t dealt_;
};

/// n classes of at most ⌈P/n⌉ nodes, of about the same power.
std::vector<std::vector<Index>> random_classes(const SubsetShape& shape, Draws& draws) {
    std::vector<Index> nodes(static_cast<std::size_t>(shape.nodes));
    std::iota(nodes.begin(), nodes.end(), Index{0});
    shuffle(nodes, draws);
    std::vector<std::vector<Index>> classes(static_cast<std::size_t>(shape.size));
    if (!shape.powers.equal())
        std::ranges::stable_sort(nodes, std::greater<>{}, [&](Index node) { return shape.powers[node]; });
    // Back and forth, so that the class that got the strongest of one round gets the weakest of the next.
    const bool snakes = !shape.powers.equal();
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        const std::size_t at = k % classes.size();
        const bool backwards = snakes && k / classes.size() % 2 == 1;
        classes[backwards ? classes.size() - 1 - at : at].push_back(nodes[k]);
    }
    return classes;
}

NodeSet to_set(const std::vector<Index>& members, Index nodes) {
    NodeSet set(nodes);
    for (const Index node : members) set.insert(node);
    return set;
}

/// Families for any α ≥ 1: the nodes fall into n classes of at most n; the subsets of one side are the classes, filled
/// up with random nodes, and those of the other take one node of every class.
Families constructed_families(const SubsetShape& shape, Draws& draws) {
    const auto classes = random_classes(shape, draws);
    std::vector<NodeSet> across, along;
    for (const auto& members : classes) across.push_back(to_set(members, shape.nodes));
    for (auto& subset : across)
        while (subset.size() < shape.size) subset.insert(draws.below(shape.nodes));
    std::vector<Deck> decks;
    for (const auto& members : classes) decks.emplace_back(members, shape.powers);
    for (Index q = 0; q < transversal_factor * shape.count; ++q) {
        NodeSet subset(shape.nodes);
        for (auto& deck : decks) subset.insert(deck.deal(draws));
        along.push_back(subset);
    }
    if (draws.below(2) == 0) std::swap(across, along);
    return {.rows = std::move(along), .cols = std::move(across)};
}

/// Sampled where that is easy, constructed where it is hopeless, and by turns in between.
Families make_families(const SubsetShape& shape, Index family, Draws& draws) {
    const double attempts = expected_attempts(shape);
    const bool easy = attempts <= easy_attempts * static_cast<double>(shape.count);
    if (easy || (attempts <= reasonable_attempts && family % 2 == 0))
        if (auto sampled = sampled_families(shape, draws)) return std::move(*sampled);
    return constructed_families(shape, draws);
}

/// A tile row or column: the subsets that hold every node it already uses, and their union.
struct Line {
    std::vector<const NodeSet*> usable;
    NodeSet allowed;
    NodeSet used;

    Line(const std::vector<NodeSet>& family, Index nodes) : allowed(nodes), used(nodes) {
        for (const auto& subset : family) {
            usable.push_back(&subset);
            allowed |= subset;
        }
    }
    /// Lines 15-21 of algorithm 2; returns whether fewer nodes are allowed than before.
    bool use(Index node, Index nodes) {
        if (used.contains(node)) return false;
        used.insert(node);
        std::erase_if(usable, [&](const NodeSet* subset) { return !subset->contains(node); });
        NodeSet now(nodes);
        for (const auto* subset : usable) now |= *subset;
        const bool shrunk = now != allowed;
        allowed = std::move(now);
        return shrunk;
    }
};

/// Algorithm 2 for one pair of families.
class Greedy {
public:
    Greedy(const TileMap& weights, const Families& families, const Powers& powers)
        : weights_(weights),
          powers_(powers),
          nodes_(powers.nodes()),
          rows_(static_cast<std::size_t>(weights.grid().rows), Line(families.rows, nodes_)),
          cols_(static_cast<std::size_t>(weights.grid().cols), Line(families.cols, nodes_)),
          owners_(weights.values().size(), -1),
          loads_(static_cast<std::size_t>(nodes_)) {}

    void assign_all(const std::vector<std::size_t>& heaviest_first) {
        const auto cols = static_cast<std::size_t>(weights_.grid().cols);
        for (const auto position : heaviest_first) {
            if (owners_[position] >= 0) continue;
            const TileIndex tile{static_cast<Index>(position / cols), static_cast<Index>(position % cols)};
            give(tile, first_done(tile));
            give_forced();
        }
    }
    /// Over power.
    [[nodiscard]] double max_load() const { return powers_.longest(loads_); }
    std::vector<std::int32_t> take_owners() { return std::move(owners_); }

private:
    /// The node that is done with a tile first: of equal ones, that with the least load.
    [[nodiscard]] Index first_done(TileIndex tile) const {
        Index best = -1;
        double least = std::numeric_limits<double>::infinity();
        const double weight = powers_.equal() ? 0 : weights_[tile];
        row(tile.i).allowed.for_each_common(col(tile.j).allowed, [&](Index node) {
            const double done = powers_.time(node, loads_[static_cast<std::size_t>(node)] + weight);
            if (done >= least) return;
            least = done;
            best = node;
        });
        return best;
    }
    void give(TileIndex tile, Index node) {
        owners_[position(tile)] = static_cast<std::int32_t>(node);
        loads_[static_cast<std::size_t>(node)] += weights_[tile];
        if (row(tile.i).use(node, nodes_)) narrowed_rows_.push_back(tile.i);
        if (col(tile.j).use(node, nodes_)) narrowed_cols_.push_back(tile.j);
    }
    void give_if_forced(TileIndex tile) {
        if (owners_[position(tile)] >= 0) return;
        const Index only = row(tile.i).allowed.only_common(col(tile.j).allowed);
        if (only >= 0) give(tile, only);
    }
    /// Lines 22-25: tiles with one node left get it, which may narrow other lines in turn.
    void give_forced() {
        while (!narrowed_rows_.empty() || !narrowed_cols_.empty()) {
            if (!narrowed_rows_.empty()) {
                const Index i = narrowed_rows_.back();
                narrowed_rows_.pop_back();
                for (Index j = 0; j < weights_.grid().cols; ++j) give_if_forced({i, j});
            } else {
                const Index j = narrowed_cols_.back();
                narrowed_cols_.pop_back();
                for (Index i = 0; i < weights_.grid().rows; ++i) give_if_forced({i, j});
            }
        }
    }
    [[nodiscard]] std::size_t position(TileIndex tile) const {
        return static_cast<std::size_t>(tile.i * weights_.grid().cols + tile.j);
    }
    Line& row(Index i) { return rows_[static_cast<std::size_t>(i)]; }
    Line& col(Index j) { return cols_[static_cast<std::size_t>(j)]; }
    [[nodiscard]] const Line& row(Index i) const { return rows_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const Line& col(Index j) const { return cols_[static_cast<std::size_t>(j)]; }

    const TileMap& weights_;
    const Powers& powers_;
    Index nodes_;
    std::vector<Line> rows_, cols_;
    std::vector<std::int32_t> owners_;
    std::vector<double> loads_;
    std::vector<Index> narrowed_rows_, narrowed_cols_;
};

/// Tiles of equal weight, as in a dense product, come in random order: row by row the first rows would decide alone.
std::vector<std::size_t> heaviest_first(const TileMap& weights, Draws draws) {
    std::vector<std::size_t> order(weights.values().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order, draws);
    std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t at) { return weights.values()[at]; });
    return order;
}

}  // namespace

Distribution random_subsets(const TileMap& weights, const RandomSubsets& options) {
    const Index size = line_limit(options.nodes, options.alpha);
    if (options.occurrences < 1 || options.families < 1)
        throw Error("random subsets need at least one occurrence and one family; they have {} and {}",
                    options.occurrences, options.families);
    if (weights.grid().count() == 0) return {weights.grid(), options.nodes, {}};
    const Powers powers(options.nodes, options.powers);
    const SubsetShape shape{.nodes = options.nodes,
                            .size = size,
                            .count = ceil_div(options.occurrences * options.nodes, size),
                            .powers = powers};
    const auto order = heaviest_first(weights, Draws(options.seed, tie_stream));
    std::vector<std::int32_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (Index family = 0; family < options.families; ++family) {
        Draws draws(options.seed, static_cast<std::uint64_t>(family));
        const Families families = make_families(shape, family, draws);
        Greedy greedy(weights, families, powers);
        greedy.assign_all(order);
        if (greedy.max_load() >= least) continue;
        least = greedy.max_load();
        best = greedy.take_owners();
    }
    return {weights.grid(), options.nodes, std::move(best)};
}

}  // namespace tesela
