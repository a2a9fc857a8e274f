#include "tesela/distribution/redistribution.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

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

/// Lists the distinct tiles of a parcel, each under the place at which it stands in the list.
class TileList {
public:
    explicit TileList(GridSize grid) : rows_(grid.rows), seen_(static_cast<std::size_t>(grid.count())) {}

    /// The place of a tile in the list of this parcel, where it is put if it is new there.
    std::int32_t place(Index parcel, TileIndex tile, std::vector<TileIndex>& list) {
        Seen& seen = seen_[static_cast<std::size_t>(tile.i + tile.j * rows_)];
        if (seen.parcel != parcel) {
            seen = {parcel, static_cast<std::int32_t>(list.size())};
            list.push_back(tile);
        }
        return seen.place;
    }

private:
    struct Seen {
        Index parcel = -1;
        std::int32_t place = 0;
    };
    Index rows_;
    std::vector<Seen> seen_;  // column by column, as segments come
};

void list_tiles(const Overlay& overlay, std::vector<Parcel>& parcels) {
    TileList sources(overlay.problem().from.grid());
    TileList targets(overlay.problem().to.grid());
    for (Parcel& parcel : parcels) {
        parcel.places.reserve(parcel.segments.size());
        for (const Segment& segment : parcel.segments)
            parcel.places.push_back({sources.place(parcel.number, segment.from, parcel.sources),
                                     targets.place(parcel.number, segment.to, parcel.targets)});
    }
}

/// Columns [begin, end) of a shape that is not empty, without those beside a triangle.
std::pair<Index, Index> used_columns(const Trapezoid& shape) {
    if (shape.part == Part::lower) return {0, std::min(shape.cols, shape.rows - shape.diagonal)};
    if (shape.part == Part::upper) return {std::max<Index>(0, -shape.diagonal), shape.cols};
    return {0, shape.cols};
}

/// From one node to another.
struct Route {
    NodeId from;
    NodeId to;
};

/// Fills parcels per pair of nodes, one at a time for each. Of pairs that do not concern the node that asks, parcels
/// are only counted: every node goes through all segments, and most of them are others'.
class ParcelBuilder {
public:
    ParcelBuilder(const ParcelOptions& options, Orientation orientation, std::optional<NodeId> concerning)
        : options_(options),
          orientation_(orientation),
          concerning_(concerning) {}

    /// How much of its two tiles a segment is.
    enum class Extent : std::uint8_t { part, whole };

    void add(const Route& route, const Segment& segment, Index bytes, Extent extent) {
        Pair& pair = pairs_[route.from.number() << 32U | route.to.number()];
        const bool travels = extent == Extent::whole && route.from != route.to;
        if (bytes >= options_.bytes || (travels && bytes >= options_.whole_tile_bytes)) {
            add_large(pair, route, segment, bytes);
            return;
        }
        if (pair.bytes < 0 || pair.bytes + bytes > options_.bytes) {
            pair.open = open(pair, route);
            pair.bytes = 0;
        }
        pair.bytes += bytes;
        put(pair.open, segment, bytes);
    }

    Parcels take() { return std::move(result_); }

private:
    static constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();
    struct Pair {
        Index parcels = 0;
        Index bytes = -1;           // of the parcel that is being filled; less than 0: there is none
        std::size_t open = nobody;  // its place in the result, if it concerns the node that asks
    };

    /// Numbers a new parcel; its place in the result, or nobody's.
    std::size_t open(Pair& pair, const Route& route) {
        const Index number = result_.count++;
        const Index sequence = pair.parcels++;
        if (concerning_ && route.from != *concerning_ && route.to != *concerning_) return nobody;
        result_.parcels.push_back({.number = number, .sequence = sequence, .from = route.from, .to = route.to});
        return result_.parcels.size() - 1;
    }
    void put(std::size_t place, const Segment& segment, Index bytes) {
        if (place == nobody) return;
        result_.parcels[place].segments.push_back(segment);
        result_.parcels[place].bytes += bytes;
    }
    /// A large segment is a parcel of its own, or several, each with some of its columns.
    void add_large(Pair& pair, const Route& route, const Segment& segment, Index bytes) {
        const auto [begin, end] = used_columns(segment.shape);
        const Index strips = std::clamp<Index>(bytes / options_.bytes, 1, end - begin);
        for (Index s = 0; s < strips; ++s) {
            const Index first = begin + (end - begin) * s / strips;
            const Segment strip = columns(segment, first, begin + (end - begin) * (s + 1) / strips - first);
            put(open(pair, route), strip, strips == 1 ? bytes : bytes * strip.shape.count() / segment.shape.count());
        }
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
    std::unordered_map<Index, Pair> pairs_;
    Parcels result_;
};

ParcelBuilder::Extent extent_of(const OverlayProblem& problem, const Segment& segment) {
    const ElementIndex size{segment.shape.rows, segment.shape.cols};
    const bool whole = problem.orientation == Orientation::same && segment.shape.part == Part::all &&
                       size == ElementIndex{problem.from.rows(segment.from.i), problem.from.cols(segment.from.j)} &&
                       size == ElementIndex{problem.to.rows(segment.to.i), problem.to.cols(segment.to.j)};
    return whole ? ParcelBuilder::Extent::whole : ParcelBuilder::Extent::part;
}

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
    if (options.bytes < 1) throw Error("a parcel must hold at least one byte");
    ParcelBuilder builder(options, overlay.problem().orientation, concerning);
    overlay.for_each([&](const Segment& segment) {
        builder.add({owners.from.owner(segment.from), owners.to.owner(segment.to)}, segment, bytes(segment),
                    extent_of(overlay.problem(), segment));
    });
    Parcels result = builder.take();
    list_tiles(overlay, result.parcels);
    return result;
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
