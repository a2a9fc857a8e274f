#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/overlay.hpp"

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tesela {

/// Bytes of a segment. Not always elements times their size: a compressed tile gives fewer.
using SegmentBytes = std::function<Index(const Segment&)>;
[[nodiscard]] SegmentBytes dense_bytes(Index element_bytes);

/// Segments and bytes that go from one node to another.
struct Volume {
    Index segments = 0;
    Index bytes = 0;
};

/// What one node has to do in a redistribution.
struct NodeVolume {
    Index sent = 0;
    Index received = 0;
    Index local = 0;
};

/// The traffic of a redistribution: who sends how much to whom.
struct RedistributionVolume {
    std::map<std::pair<Index, Index>, Volume> pairs;  ///< by (from, to); the local parts are those with from = to
    std::vector<NodeVolume> nodes;
    Volume local;
    Volume remote;
};

/// The owners of the source and target tiles of an overlay.
struct Owners {
    const Distribution& from;
    const Distribution& to;
};
/// Throws Error unless the distributions have the grids of the overlay's tilings.
[[nodiscard]] RedistributionVolume redistribution_volume(const Overlay& overlay, const Owners& owners,
                                                         const SegmentBytes& bytes);

/// Segments that travel from one node to another in one message, or are copied on one node by one task.
struct Parcel {
    Index number = 0;    ///< among all parcels of the redistribution, the same on every node
    Index sequence = 0;  ///< among those of its pair of nodes
    NodeId from;
    NodeId to;
    Index bytes = 0;
    std::vector<Segment> segments;
    /// The distinct tiles it takes from and goes to, in the order in which segments name them.
    std::vector<TileIndex> sources;
    std::vector<TileIndex> targets;
    /// Which of these each segment has.
    struct Places {
        std::int32_t source, target;
    };
    std::vector<Places> places;
};

/// From how many bytes on a tile that goes from one node to another as a whole travels alone: straight out of its place
/// and into the other, where tiles that share a message are copied into a buffer and out of one. The size of a full
/// message, so that nothing is sent alone that was not before: no lower one has been measured to be better yet
/// (`tesela-papers paper002 --only whole_tiles` compares them).
inline constexpr Index default_whole_tile_bytes = Index{1} << 20U;

struct ParcelOptions {
    /// Segments are put together until a parcel has this many bytes, and split by columns when they have twice as many.
    Index bytes = 1 << 20;
    /// Tiles that travel as a whole are not put together with others from this many bytes on.
    Index whole_tile_bytes = default_whole_tile_bytes;
};

/// Parcels in the order in which the target's columns need them.
struct Parcels {
    std::vector<Parcel> parcels;
    Index count = 0;  ///< of all nodes
};
/// All parcels, or those that concern one node.
[[nodiscard]] Parcels make_parcels(const Overlay& overlay, const Owners& owners, const SegmentBytes& bytes,
                                   const ParcelOptions& options, std::optional<NodeId> concerning = {});

/// Bandwidths in bytes/s, as measured or as published.
struct CopyRates {
    double network = 0;
    double memory = 0;
};

/// Paper 002 §7: what a redistribution must cost, and the bandwidth that is the most it can achieve.
struct RedistributionBound {
    double seconds = 0;    ///< equation (4) with T_extra = 0
    double bandwidth = 0;  ///< equation (5) with T_extra = 0, bytes/s; 0 where nothing travels
    Index largest = 0;     ///< max over nodes of max(sent, received), bytes: the numerator of equation (3)
};
[[nodiscard]] RedistributionBound redistribution_bound(const RedistributionVolume& volume, const CopyRates& rates);

}  // namespace tesela
