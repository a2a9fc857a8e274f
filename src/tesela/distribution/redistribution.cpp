#include "tesela/distribution/redistribution.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>

namespace tesela {
namespace {

void check_grid(const char* what, const Tiling& tiling, const Distribution& distribution) {
    if (tiling.grid() == distribution.grid()) return;
    throw Error("the {} has {} x {} tiles, but its distribution is for {} x {}", what, tiling.grid().rows,
                tiling.grid().cols, distribution.grid().rows, distribution.grid().cols);
}

void check(const Overlay& overlay, const Owners& owners) {
    check_grid("source", overlay.problem().from, owners.from);
    check_grid("target", overlay.problem().to, owners.to);
}

void add_once(std::vector<TileIndex>& tiles, TileIndex tile) {
    // Segments come target tile by target tile, so the last is the likely one.
    if (!tiles.empty() && tiles.back() == tile) return;
    if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) tiles.push_back(tile);
}

/// Fills parcels per pair of nodes and closes them when they are full.
class ParcelBuilder {
public:
    ParcelBuilder(const ParcelOptions& options, Orientation orientation, std::optional<NodeId> concerning)
        : options_(options),
          orientation_(orientation),
          concerning_(concerning) {}

    void add(NodeId from, NodeId to, const Segment& segment, Index bytes) {
        Pair& pair = pairs_[{from.number(), to.number()}];
        if (bytes >= options_.bytes) {
            add_large(pair, from, to, segment, bytes);
            return;
        }
        if (pair.open >= 0 && !fits(pair.draft, segment, bytes)) close(pair);
        if (pair.open < 0) open(pair, from, to);
        put(pair.draft, segment, bytes);
    }

    Parcels take() {
        for (auto& [nodes, pair] : pairs_)
            if (pair.open >= 0) close(pair);
        std::sort(result_.parcels.begin(), result_.parcels.end(),
                  [](const Parcel& a, const Parcel& b) { return a.number < b.number; });
        return std::move(result_);
    }

private:
    struct Pair {
        Index parcels = 0;
        Index open = -1;  // the number of the parcel that is being filled
        Parcel draft;
    };

    void open(Pair& pair, NodeId from, NodeId to) {
        pair.open = result_.count++;
        pair.draft = {.number = pair.open, .sequence = pair.parcels++, .from = from, .to = to};
    }
    void close(Pair& pair) {
        if (!concerning_ || pair.draft.from == *concerning_ || pair.draft.to == *concerning_)
            result_.parcels.push_back(std::move(pair.draft));
        pair.open = -1;
    }
    static void put(Parcel& parcel, const Segment& segment, Index bytes) {
        parcel.segments.push_back(segment);
        parcel.bytes += bytes;
        add_once(parcel.sources, segment.from);
        add_once(parcel.targets, segment.to);
    }
    [[nodiscard]] bool fits(const Parcel& parcel, const Segment& segment, Index bytes) const {
        const auto with = [](const std::vector<TileIndex>& tiles, TileIndex tile) {
            const bool has = std::find(tiles.begin(), tiles.end(), tile) != tiles.end();
            return static_cast<Index>(tiles.size()) + (has ? 0 : 1);
        };
        const Index sources = with(parcel.sources, segment.from);
        const Index targets = with(parcel.targets, segment.to);
        const Index touched = parcel.from == parcel.to ? sources + targets : std::max(sources, targets);
        return parcel.bytes + bytes <= options_.bytes && touched <= options_.tiles;
    }
    /// A large segment is a parcel of its own, or several, each with some of its columns.
    void add_large(Pair& pair, NodeId from, NodeId to, const Segment& segment, Index bytes) {
        Parcel waiting = std::move(pair.draft);
        const Index was_open = pair.open;
        const Index cols = segment.shape.cols;
        const Index strips = std::clamp<Index>(bytes / options_.bytes, 1, cols);
        for (Index s = 0; s < strips; ++s) {
            const Index first = cols * s / strips;
            const Segment strip = columns(segment, first, cols * (s + 1) / strips - first);
            if (strip.shape.empty()) continue;  // of a triangle
            open(pair, from, to);
            put(pair.draft, strip, strips == 1 ? bytes : bytes * strip.shape.count() / segment.shape.count());
            close(pair);
        }
        pair.draft = std::move(waiting);
        pair.open = was_open;
    }
    [[nodiscard]] Segment columns(const Segment& segment, Index first, Index count) const {
        Segment strip = segment;
        strip.shape = segment.shape.columns(first, count);
        strip.to_at.j += first;
        (orientation_ == Orientation::transposed ? strip.from_at.i : strip.from_at.j) += first;
        return strip;
    }

    ParcelOptions options_;
    Orientation orientation_;
    std::optional<NodeId> concerning_;
    std::map<std::pair<Index, Index>, Pair> pairs_;
    Parcels result_;
};

}  // namespace

SegmentBytes dense_bytes(Index element_bytes) {
    return [element_bytes](const Segment& segment) { return segment.shape.count() * element_bytes; };
}

RedistributionVolume redistribution_volume(const Overlay& overlay, const Owners& owners, const SegmentBytes& bytes) {
    check(overlay, owners);
    RedistributionVolume volume;
    volume.nodes.resize(static_cast<std::size_t>(std::max(owners.from.nodes(), owners.to.nodes())));
    overlay.for_each([&](const Segment& segment) {
        const auto from = static_cast<std::size_t>(owners.from.owner(segment.from).number());
        const auto to = static_cast<std::size_t>(owners.to.owner(segment.to).number());
        const Index size = bytes(segment);
        const auto add = [&](Volume& sum) {
            ++sum.segments;
            sum.bytes += size;
        };
        add(volume.pairs[{static_cast<Index>(from), static_cast<Index>(to)}]);
        add(from == to ? volume.local : volume.remote);
        if (from == to) {
            volume.nodes[from].local += size;
        } else {
            volume.nodes[from].sent += size;
            volume.nodes[to].received += size;
        }
    });
    return volume;
}

Parcels make_parcels(const Overlay& overlay, const Owners& owners, const SegmentBytes& bytes,
                     const ParcelOptions& options, std::optional<NodeId> concerning) {
    check(overlay, owners);
    if (options.bytes < 1 || options.tiles < 1) throw Error("a parcel must hold at least one byte and one tile");
    ParcelBuilder builder(options, overlay.problem().orientation, concerning);
    overlay.for_each([&](const Segment& segment) {
        builder.add(owners.from.owner(segment.from), owners.to.owner(segment.to), segment, bytes(segment));
    });
    return builder.take();
}

RedistributionBound redistribution_bound(const RedistributionVolume& volume, const CopyRates& rates) {
    if (rates.network <= 0 || rates.memory <= 0) throw Error("a bandwidth must be more than 0");
    RedistributionBound bound;
    Index local = 0;
    for (const NodeVolume& node : volume.nodes) {
        const Index remote = std::max(node.sent, node.received);
        // Equation (4): the message itself, a copy on each side of it, and the copies that stay here.
        const double seconds = static_cast<double>(remote) * (1 / rates.network + 2 / rates.memory) +
                               static_cast<double>(node.local) / rates.memory;
        bound.seconds = std::max(bound.seconds, seconds);
        bound.largest = std::max(bound.largest, remote);
        local = std::max(local, node.local);
    }
    if (bound.largest == 0) return bound;
    const double r = static_cast<double>(local) / static_cast<double>(bound.largest);
    bound.bandwidth = rates.network * rates.memory / ((2 + r) * rates.network + rates.memory);
    return bound;
}

}  // namespace tesela
