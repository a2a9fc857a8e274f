#pragma once

#include "tesela/distribution/redistribution.hpp"
#include "tesela/flow/exchange.hpp"
#include "tesela/starpu/internal/attachment.hpp"
#include "tesela/starpu/internal/stream_state.hpp"
#include "tesela/starpu/internal/tracing.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tesela::starpu {

/// One exchange while it runs on this node. It holds the tiles it reads and writes as StarPU hands them over, packs
/// what leaves, receives what comes, straight into its tile where that is contiguous, and gives each tile back when its
/// last segment is done. It lives until everything has ended.
class ExchangeRun : public std::enable_shared_from_this<ExchangeRun> {
public:
    /// `position` counts the steps of the stream.
    ExchangeRun(const Exchange& exchange, StarpuStream& stream, std::uint64_t position);
    ~ExchangeRun();
    ExchangeRun(const ExchangeRun&) = delete;
    ExchangeRun& operator=(const ExchangeRun&) = delete;
    ExchangeRun(ExchangeRun&&) = delete;
    ExchangeRun& operator=(ExchangeRun&&) = delete;

    /// Asks for the tiles; everything else follows. Every node calls it at the same point of its stream.
    void start();

private:
    /// How a parcel gets from its source tiles to its target tiles, as far as this node sees it.
    enum class Way : std::uint8_t {
        copied,    ///< from tiles into tiles of this node
        sent,      ///< straight out of its tile
        packed,    ///< into a buffer, which is sent
        received,  ///< straight into its tile
        unpacked,  ///< received into a buffer, and out of that
    };
    enum class Stage : std::uint8_t {
        waiting,    ///< for its tiles, unless it is unpacked, and for room in its channel
        under_way,  ///< its task or its message
        empty,      ///< it came without bytes, since the stream has failed, and its task is under way
        ended,
    };
    struct Shipment;
    class ParcelLetter;
    /// The messages to, or from, one other node, which are under way a few at a time.
    struct Channel {
        std::vector<Shipment*> shipments;  // by sequence
        std::size_t first_open = 0;
        std::size_t window = 0;  // from the first open one on, so many may be under way

        [[nodiscard]] std::size_t end() const { return std::min(shipments.size(), first_open + window); }
        void skip_ended();
    };
    struct HeldTile {
        ExchangeRun* run = nullptr;
        starpu_data_handle_t handle = nullptr;
        starpu_data_access_mode mode = STARPU_R;
        Contents contents = Contents::zeros;  // if nobody has written it
        Tile tile{};
        TileIndex index{};
        std::atomic<int> uses = 0;
        std::vector<Shipment*> waiting;  // the first of them asks for it
    };
    /// The tiles of one matrix that this node holds, in the order in which shipments name them.
    struct HeldTiles {
        explicit HeldTiles(const Attachment& matrix)
            : cols(matrix.tiling().grid().cols),
              by_position(static_cast<std::size_t>(matrix.tiling().grid().count())) {}
        Index cols;
        std::vector<HeldTile*> by_position;
        std::deque<HeldTile> tiles;
    };
    struct Shipment {
        std::shared_ptr<ExchangeRun> run;     // from its start to its end: so the run lives as long
        Parcel parcel;                        // without its segments, since they are
        std::vector<PlacedSegment> segments;  // as kernels want them
        Way way = Way::copied;
        Stage stage = Stage::waiting;
        int missing = 0;  // tiles that are not ours yet, and of one that is unpacked its bytes
        std::byte* buffer = nullptr;
        std::vector<HeldTile*> sources, targets;  // of parcel.sources and parcel.targets
        Channel* channel = nullptr;               // of what travels
        std::unique_ptr<ParcelLetter> letter;
        TracedTask traced;
        std::int64_t posted = 0;  // ns

        [[nodiscard]] bool leaves() const { return way == Way::sent || way == Way::packed; }
        [[nodiscard]] bool comes() const { return way == Way::received || way == Way::unpacked; }
        /// Nobody copies it: its message leaves from its tile or arrives in it.
        [[nodiscard]] bool direct() const { return way == Way::sent || way == Way::received; }
        [[nodiscard]] NodeId peer() const { return leaves() ? parcel.to : parcel.from; }
    };

    void make_shipment(Parcel parcel);
    /// Its way, once its tiles and segments are listed.
    [[nodiscard]] Way way_of(const Shipment& shipment) const;
    void address(Shipment& shipment);
    [[nodiscard]] std::vector<PlacedSegment> placed_segments(const Parcel& parcel) const;
    HeldTile& hold(HeldTiles& tiles, TileIndex index, Shipment& shipment);
    static void ask(const std::vector<HeldTile*>& tiles, const Shipment& shipment);
    static void tile_ready(void* held_tile);
    void ready(HeldTile& held);
    void begin_admitted(Channel& channel);
    [[nodiscard]] bool try_start(Shipment& shipment);
    void begin(Shipment& shipment);
    void sent(Shipment& shipment);
    void received(Shipment& shipment, Index bytes);
    [[nodiscard]] std::size_t first_window(const Shipment& shipment) const;
    void submit(Shipment& shipment);
    void trace_task(Shipment& shipment) const;
    [[nodiscard]] static const Kernel& kernel_of(const Shipment& shipment);
    static void release(const std::vector<HeldTile*>& tiles);
    void ended(Shipment& shipment);
    void trace_message(const Shipment& shipment) const;
    /// Where the parcel stands in its tile, in one piece.
    [[nodiscard]] void* in_tile(const Shipment& shipment) const;
    [[nodiscard]] static std::vector<Tile> tiles_of(const std::vector<HeldTile*>& held);

    static KernelResult run_pack(const KernelCall& call) noexcept;
    static KernelResult run_unpack(const KernelCall& call) noexcept;
    static KernelResult run_copy(const KernelCall& call) noexcept;
    static const Kernel pack_kernel, unpack_kernel, copy_kernel;

    Exchange exchange_;  // its matrices may be gone once everything is asked for
    std::size_t element_bytes_ = 0;
    StarpuStream& stream_;
    std::uint64_t position_ = 0;
    /// Where this exchange begins among the stream's tasks and data, alike on every node.
    std::uint64_t first_task_ = 0;
    std::int64_t first_datum_ = 0;
    std::uint64_t trail_ = 0;                           // of all that the stream has done before
    std::unique_ptr<StarpuAttachment> traced_parcels_;  // names parcels in traces
    HeldTiles sources_, targets_;
    std::vector<std::unique_ptr<Shipment>> shipments_;
    std::map<NodeId, Channel> outgoing_, incoming_;
    std::mutex mutex_;  // of stages, what is missing, channels and left_
    std::size_t left_ = 0;
};

}  // namespace tesela::starpu
