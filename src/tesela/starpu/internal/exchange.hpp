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
    enum class Role : std::uint8_t { local, outgoing, incoming };
    struct HeldTile;
    struct Shipment;
    class ParcelLetter;
    /// The messages to, or from, one other node, which are under way a few at a time.
    struct Channel {
        std::vector<Shipment*> shipments;  // by sequence
        std::vector<std::uint8_t> done;
        std::size_t first_open = 0;
        std::size_t window = 0;  // from the first open one on, so many may be under way

        [[nodiscard]] std::size_t end() const { return std::min(shipments.size(), first_open + window); }
    };
    /// The batches of source columns of what leaves this node, or of what comes: messages of one are under way at a
    /// time.
    struct Batches {
        std::vector<std::size_t> left;  // messages of each that have not ended
        std::size_t open = 0;

        void add(Index batch) {
            left.resize(std::max(left.size(), static_cast<std::size_t>(batch) + 1));
            ++left[static_cast<std::size_t>(batch)];
        }
        void skip_ended() {
            while (open < left.size() && left[open] == 0) ++open;
        }
        [[nodiscard]] bool admits(Index batch) const { return static_cast<std::size_t>(batch) <= open; }
    };
    struct HeldTile {
        ExchangeRun* run = nullptr;
        starpu_data_handle_t handle = nullptr;
        Tile tile{};
        TileIndex index{};
        bool covered = true;
        bool asked = false;
        Contents contents = Contents::zeros;  // if nobody has written it
        std::atomic<int> uses = 0;
        std::vector<Shipment*> waiting;
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
        ExchangeRun* run = nullptr;
        Parcel parcel;                        // without its segments, since they are
        std::vector<PlacedSegment> segments;  // as kernels want them
        Role role = Role::local;
        int missing = 0;  // tiles that are not ours yet, and of an incoming one its bytes
        bool started = false;
        bool empty = false;  // it came without bytes, since the stream has failed
        std::byte* buffer = nullptr;
        std::vector<HeldTile*> sources, targets;  // of parcel.sources and parcel.targets
        Channel* channel = nullptr;
        bool direct = false;  // straight from or into its tile, without a buffer
        std::unique_ptr<ParcelLetter> letter;
        TracedTask traced;
        std::int64_t posted = 0;  // ns
    };

    void make_shipment(Parcel parcel);
    void address(Shipment& shipment, std::uint64_t position);
    [[nodiscard]] std::vector<PlacedSegment> placed_segments(const Parcel& parcel) const;
    HeldTile& hold(HeldTiles& tiles, TileIndex index, Shipment& shipment);
    static void ask(HeldTile& held, starpu_data_access_mode mode);
    static void tile_ready(void* held_tile);
    void ready(HeldTile& held);
    void begin_admitted(Channel& channel);
    [[nodiscard]] bool leave_channel(const Shipment& shipment);
    [[nodiscard]] bool may_start(Shipment& shipment);
    void begin(Shipment& shipment);
    void sent(Shipment& shipment);
    void received(Shipment& shipment, Index bytes);
    [[nodiscard]] std::size_t first_window(Role role) const;
    void submit(Shipment& shipment);
    void trace_task(Shipment& shipment) const;
    [[nodiscard]] static const Kernel& kernel_of(const Shipment& shipment);
    static void release(const std::vector<HeldTile*>& tiles);
    void ended(Shipment& shipment);
    void trace_message(const Shipment& shipment) const;
    /// Whether the parcel stands in one piece in its tile, and where.
    [[nodiscard]] bool contiguous(const Shipment& shipment) const;
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
    std::map<std::pair<Role, Index>, Channel> channels_;
    std::map<Role, Batches> batches_;
    std::mutex mutex_;
    std::size_t left_ = 0;
    std::shared_ptr<ExchangeRun> self_;
};

}  // namespace tesela::starpu
