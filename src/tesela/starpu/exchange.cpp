#include "tesela/starpu/internal/exchange.hpp"

#include "tesela/base/error.hpp"
#include "tesela/starpu/internal/execution.hpp"
#include "tesela/starpu/internal/tile_interface.hpp"
#include "tesela/starpu/internal/tile_pool.hpp"
#include "tesela/starpu/internal/tracing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tesela::starpu {
namespace {

struct ShipmentArguments {
    void* shipment;
    double bytes;
};

KernelCost shipment_cost(std::span<const TileShape>, const void* arguments) noexcept {
    return {0, 2 * static_cast<const ShipmentArguments*>(arguments)->bytes};
}

MatrixSpec parcels_for_traces(Index count, Index nodes) {
    std::vector<Index> cuts(static_cast<std::size_t>(count) + 1);
    std::iota(cuts.begin(), cuts.end(), Index{0});
    return {.name = "parcels",
            .tiling = Tiling::from_cuts(std::move(cuts), {0, 1}),
            .distribution = Distribution({count, 1}, nodes, std::vector<std::int32_t>(static_cast<std::size_t>(count))),
            .type = ElementType::none};
}

}  // namespace

const Kernel ExchangeRun::pack_kernel{ParcelTaskNames::pack, shipment_cost, run_pack};
const Kernel ExchangeRun::unpack_kernel{ParcelTaskNames::unpack, shipment_cost, run_unpack};
const Kernel ExchangeRun::copy_kernel{ParcelTaskNames::copy, shipment_cost, run_copy};

/// The message of a shipment.
class ExchangeRun::ParcelLetter final : public Letter {
public:
    ParcelLetter(Shipment& shipment, const Address& address) : Letter(address), shipment_(shipment) {}

    bool take_memory(Claim claim) override {
        shipment_.buffer = static_cast<std::byte*>(
            shipment_.run->stream_.shared.memory.take(parcel_buffer_bytes(shipment_.parcel.bytes), claim));
        if (shipment_.buffer == nullptr) return false;
        // It is given back soon: others that are to be received wait for that rather than take more than there is.
        if (!outgoing()) stream().promises()->promise(shipment_.run->position_ - 1);
        return true;
    }
    void go_without_memory() override {
        StarpuStream& stream = shipment_.run->stream_;
        raise_failure(stream, {Failure::out_of_memory, stream.me.number()});
    }
    void start(net::Transport& transport) override {
        if (shipment_.run->stream_.shared.tracing() != nullptr) started = trace::Collector::now();
        void* memory = shipment_.direct() ? shipment_.run->in_tile(shipment_) : shipment_.buffer;
        const Index bytes = shipment_.parcel.bytes;
        if (!outgoing())
            transport.receive(label(), memory, bytes, *this);
        else if (stream().failed() || memory == nullptr)
            transport.send(label(), {}, ends(), *this);
        else
            transport.send(label(), {memory, bytes, 1, bytes}, ends(), *this);
    }
    void ended(Index bytes) override {
        const std::shared_ptr<ExchangeRun> run = shipment_.run;
        stream().ended(*this, address().bytes);
        if (outgoing())
            run->sent(shipment_);
        else
            run->received(shipment_, bytes);
    }
    [[nodiscard]] std::string describe() const override {
        return fmt::format("parcel {} of a redistribution", shipment_.parcel.number);
    }

    [[nodiscard]] std::uint64_t identity() const override {
        const ExchangeRun& run = *shipment_.run;
        return digest_of(static_cast<std::uint64_t>(message_tag(run.first_datum_ + shipment_.parcel.number, 0)),
                         run.trail_);
    }

    std::int64_t started = 0;

private:
    Shipment& shipment_;
};

ExchangeRun::ExchangeRun(const Exchange& exchange, StarpuStream& stream, std::uint64_t position)
    : exchange_(exchange),
      element_bytes_(element_bytes(exchange.from->type())),
      stream_(stream),
      position_(position),
      first_task_(stream.submitted),
      first_datum_(stream.next_datum),
      trail_(stream.log.trail()),
      sources_(*exchange.from),
      targets_(*exchange.to) {
    const Owners owners{exchange.from->distribution(), exchange.to->distribution()};
    Parcels parcels = exchange_parcels(*exchange.overlay, owners, element_bytes_, exchange.options, stream.me);
    for (Parcel& parcel : parcels.parcels) make_shipment(std::move(parcel));
    left_ = shipments_.size();
    stream.submitted += 2 * static_cast<std::uint64_t>(parcels.count);
    stream.next_datum += parcels.count;
    if (stream_.shared.tracing() != nullptr && parcels.count > 0)
        traced_parcels_ = std::make_unique<StarpuAttachment>(parcels_for_traces(parcels.count, owners.to.nodes()),
                                                             stream.shared, first_datum_);
}
ExchangeRun::~ExchangeRun() = default;

void ExchangeRun::make_shipment(Parcel parcel) {
    auto& shipment = *shipments_.emplace_back(std::make_unique<Shipment>());
    if (parcel.from == stream_.me)
        for (const TileIndex tile : parcel.sources) shipment.sources.push_back(&hold(sources_, tile, shipment));
    if (parcel.to == stream_.me)
        for (const TileIndex tile : parcel.targets) shipment.targets.push_back(&hold(targets_, tile, shipment));
    shipment.segments = placed_segments(parcel);
    parcel.segments.clear();
    parcel.segments.shrink_to_fit();
    shipment.parcel = std::move(parcel);
    shipment.way = way_of(shipment);
    if (shipment.way == Way::unpacked) ++shipment.missing;
    if (shipment.way == Way::copied) return;
    shipment.channel = &(shipment.leaves() ? outgoing_ : incoming_)[shipment.peer()];
    shipment.channel->window = first_window(shipment);
    shipment.channel->shipments.push_back(&shipment);
}

ExchangeRun::Way ExchangeRun::way_of(const Shipment& shipment) const {
    const bool leaves = shipment.targets.empty();
    if (!leaves && !shipment.sources.empty()) return Way::copied;
    const HeldTile& held = *(leaves ? shipment.sources : shipment.targets).front();
    const auto& matrix = static_cast<const StarpuAttachment&>(leaves ? *exchange_.from : *exchange_.to);
    const ParcelEnd end = leaves ? ParcelEnd::source : ParcelEnd::target;
    if (shipment.segments.size() == 1 &&
        stands_in_one_piece(shipment.segments.front().args, end, matrix.ld(held.index)))
        return leaves ? Way::sent : Way::received;
    return leaves ? Way::packed : Way::unpacked;
}

std::vector<PlacedSegment> ExchangeRun::placed_segments(const Parcel& parcel) const {
    std::vector<PlacedSegment> placed;
    placed.reserve(parcel.segments.size());
    Index at = 0;
    for (std::size_t k = 0; k < parcel.segments.size(); ++k) {
        const Segment& segment = parcel.segments[k];
        const Parcel::Places places = parcel.places[k];
        placed.push_back({segment_arguments(segment, exchange_.overlay->problem().orientation, element_bytes_),
                          static_cast<std::uint32_t>(places.source), static_cast<std::uint32_t>(places.target)});
        placed.back().args.packed_at = std::exchange(at, at + segment.shape.count());
    }
    return placed;
}

ExchangeRun::HeldTile& ExchangeRun::hold(HeldTiles& tiles, TileIndex index, Shipment& shipment) {
    HeldTile*& held = tiles.by_position[static_cast<std::size_t>(index.i * tiles.cols + index.j)];
    if (held == nullptr) {
        held = &tiles.tiles.emplace_back();
        held->run = this;
        held->index = index;
    }
    ++held->uses;
    ++shipment.missing;
    held->waiting.push_back(&shipment);
    return *held;
}

/// The message of a shipment gets its number, on both sides in the order of the parcels.
void ExchangeRun::address(Shipment& shipment) {
    const Index bytes = shipment.parcel.bytes;
    shipment.letter = std::make_unique<ParcelLetter>(
        shipment,
        Letter::Address{.direction = shipment.leaves() ? Letter::Direction::out : Letter::Direction::in,
                        .peer = static_cast<int>(shipment.peer().number()),
                        .bytes = bytes,
                        .priority = exchange_.options.priority,
                        .memory = shipment.way == Way::unpacked ? static_cast<Index>(parcel_buffer_bytes(bytes)) : 0});
    stream_.mail->add(*shipment.letter, position_);
}

void ExchangeRun::start() {
    if (shipments_.empty()) return;
    const std::shared_ptr<ExchangeRun> alive = shared_from_this();  // the last shipment may end before this does
    stream_.progress.started();
    auto& from = static_cast<StarpuAttachment&>(*exchange_.from);
    auto& to = static_cast<StarpuAttachment&>(*exchange_.to);
    // All that is said of the matrices is said before the first tile is asked for, which may start everything.
    for (HeldTile& held : sources_.tiles) held.handle = from.handle(held.index);
    for (HeldTile& held : targets_.tiles) {
        held.handle = to.handle(held.index);
        const bool covered = exchange_.overlay->covers(held.index);
        held.mode = covered ? STARPU_W : STARPU_RW;
        held.contents = covered ? Contents::any : Contents::zeros;
    }
    for (const auto& shipment : shipments_) {
        shipment->run = alive;
        if (shipment->way != Way::copied) address(*shipment);
        if (traced_parcels_) trace_task(*shipment);
    }
    for (auto* channels : {&outgoing_, &incoming_})
        for (auto& [node, channel] : *channels) begin_admitted(channel);
    // In the order of the shipments, so that the first columns of the target are complete first.
    for (const auto& shipment : shipments_) {
        ask(shipment->sources, *shipment);
        ask(shipment->targets, *shipment);
    }
}

void ExchangeRun::ask(const std::vector<HeldTile*>& tiles, const Shipment& shipment) {
    for (HeldTile* held : tiles)
        if (held->waiting.front() == &shipment) acquire(held->handle, held->mode, tile_ready, held);
}

void ExchangeRun::tile_ready(void* held_tile) {
    auto& held = *static_cast<HeldTile*>(held_tile);
    const std::shared_ptr<ExchangeRun> alive = held.run->shared_from_this();
    alive->ready(held);
}

void ExchangeRun::ready(HeldTile& held) {
    TileInterface& tile = in_main_memory(held.handle);
    if (!give_memory(tile, held.contents)) raise_failure(stream_, {Failure::out_of_memory, stream_.me.number()});
    std::vector<Shipment*> complete, startable;
    {
        const std::lock_guard lock(mutex_);
        held.tile = tile.tile();
        for (Shipment* shipment : held.waiting) {
            --shipment->missing;
            if (shipment->stage != Stage::waiting && shipment->missing == 0) complete.push_back(shipment);
            if (try_start(*shipment)) startable.push_back(shipment);
        }
    }
    for (Shipment* shipment : complete) submit(*shipment);  // its bytes were here before its tiles
    for (Shipment* shipment : startable) begin(*shipment);
}

/// What a channel lets in now.
void ExchangeRun::begin_admitted(Channel& channel) {
    std::vector<Shipment*> startable;
    {
        const std::lock_guard lock(mutex_);
        for (std::size_t k = channel.first_open; k < channel.end(); ++k)
            if (try_start(*channel.shipments[k])) startable.push_back(channel.shipments[k]);
    }
    for (Shipment* shipment : startable) begin(*shipment);
}

/// A shipment starts when all its tiles are ours, or it first needs its bytes, and its channel has room.
bool ExchangeRun::try_start(Shipment& shipment) {
    if (shipment.stage != Stage::waiting || (shipment.missing > 0 && shipment.way != Way::unpacked)) return false;
    const auto sequence = static_cast<std::size_t>(shipment.parcel.sequence);
    if (shipment.channel != nullptr && sequence >= shipment.channel->end()) return false;
    if (shipment.way == Way::packed && !shipment.letter->take_memory(Claim::within_limit)) {
        if (sequence != shipment.channel->first_open) return false;
        if (!shipment.letter->take_memory(Claim::needed)) shipment.letter->go_without_memory();
    }
    shipment.stage = Stage::under_way;
    return true;
}

void ExchangeRun::begin(Shipment& shipment) {
    if (stream_.shared.tracing() != nullptr || shipment.comes()) shipment.posted = trace::Collector::now();
    if (shipment.comes() || shipment.way == Way::sent)
        stream_.mail->ready(*shipment.letter);
    else
        submit(shipment);
}

void* ExchangeRun::in_tile(const Shipment& shipment) const {
    const SegmentArguments& segment = shipment.segments.front().args;
    const bool leaves = shipment.way == Way::sent;
    const Tile& tile = (leaves ? shipment.sources : shipment.targets).front()->tile;
    if (tile.data == nullptr) return nullptr;  // the stream has failed
    const Index at = leaves ? segment.from_i + segment.from_j * tile.ld : segment.to_i + segment.to_j * tile.ld;
    return static_cast<std::byte*>(tile.data) + static_cast<std::size_t>(at) * element_bytes_;
}

std::vector<Tile> ExchangeRun::tiles_of(const std::vector<HeldTile*>& held) {
    std::vector<Tile> tiles;
    tiles.reserve(held.size());
    for (const HeldTile* tile : held) tiles.push_back(tile->tile);
    return tiles;
}

/// On a slow link a few messages fill it already, and those of other work wait behind all that are under way. So few
/// are asked for at first, and one more for each that came quickly; MPI keeps back a large one that nobody asked for.
std::size_t ExchangeRun::first_window(const Shipment& shipment) const {
    constexpr Index first = 2;
    const Index most = exchange_.options.in_flight;
    if (most <= 0) return std::numeric_limits<std::size_t>::max() / 2;  // no limit
    return static_cast<std::size_t>(shipment.comes() ? std::min(first, most) : most);
}

void ExchangeRun::sent(Shipment& shipment) {
    trace_message(shipment);
    if (shipment.way == Way::sent) release(shipment.sources);
    ended(shipment);
}

void ExchangeRun::received(Shipment& shipment, Index bytes) {
    constexpr std::int64_t quick = 5'000'000;  // ns
    trace_message(shipment);
    if (bytes == 0) stream_.failure.raise({Failure::elsewhere, std::numeric_limits<Index>::max()});
    bool complete = false;
    {
        const std::lock_guard lock(mutex_);
        if (trace::Collector::now() - shipment.posted < quick) {
            auto& window = shipment.channel->window;
            window = std::max(window, std::min(window + 1, static_cast<std::size_t>(exchange_.options.in_flight)));
        }
        if (bytes == 0) shipment.stage = Stage::empty;
        complete = shipment.way == Way::unpacked && --shipment.missing == 0;
    }
    if (complete) submit(shipment);
    if (shipment.way == Way::unpacked) return;
    release(shipment.targets);
    ended(shipment);
}

void ExchangeRun::trace_message(const Shipment& shipment) const {
    Tracing* trace = stream_.shared.tracing();
    if (trace == nullptr || !trace->wants(trace::Module::comms)) return;
    trace->message_ended({.kind = shipment.leaves() ? trace::RecordKind::send : trace::RecordKind::receive,
                          .tag = static_cast<std::uint64_t>(message_tag(first_datum_ + shipment.parcel.number, 0)),
                          .bytes = static_cast<std::uint64_t>(shipment.parcel.bytes),
                          .posted = shipment.posted,
                          .started = shipment.letter->started,
                          .priority = exchange_.options.priority,
                          .peer = static_cast<std::uint16_t>(shipment.peer().number())});
}

const Kernel& ExchangeRun::kernel_of(const Shipment& shipment) {
    return shipment.leaves() ? pack_kernel : shipment.comes() ? unpack_kernel : copy_kernel;
}

void ExchangeRun::submit(Shipment& shipment) {
    const ShipmentArguments arguments{&shipment, static_cast<double>(shipment.parcel.bytes)};
    Task task = Task::unchecked(kernel_of(shipment), {}, arguments);
    // What others wait for goes first; copies that stay here fill the gaps.
    task.priority = exchange_.options.priority - (shipment.way == Way::copied ? 1 : 0);
    task.phase = exchange_.phase;
    run({.stream = stream_, .task = task, .after_failure = AfterFailure::run, .traced = shipment.traced});
}

/// The task as traces show it: with tiles it reads and writes, as many as a task can have, and the parcel between them.
void ExchangeRun::trace_task(Shipment& shipment) const {
    stream_.shared.tracing()->will_travel({traced_parcels_.get(), {shipment.parcel.number, 0}});
    if (shipment.direct()) return;
    const Kernel& kernel = kernel_of(shipment);
    Task task = Task::unchecked(kernel, {});
    task.priority = exchange_.options.priority;
    task.phase = exchange_.phase;
    const auto add = [&](TileRef tile, AccessMode mode) {
        task.accesses[static_cast<std::size_t>(task.access_count++)] = {tile, mode};
    };
    const auto [sources, targets] = shown_tiles(shipment.sources.size(), shipment.targets.size());
    const TileRef parcel{traced_parcels_.get(), {shipment.parcel.number, 0}};
    if (&kernel == &unpack_kernel) add(parcel, AccessMode::read);
    for (std::size_t k = 0; k < sources; ++k) add({exchange_.from, shipment.sources[k]->index}, AccessMode::read);
    for (std::size_t k = 0; k < targets; ++k) add({exchange_.to, shipment.targets[k]->index}, AccessMode::disjoint);
    if (&kernel == &pack_kernel) add(parcel, AccessMode::write);
    const std::uint64_t second = &kernel == &pack_kernel ? 0 : 1;
    const std::uint64_t position = first_task_ + 2 * static_cast<std::uint64_t>(shipment.parcel.number) + second;
    shipment.traced = stream_.shared.tracing()->created(stream_, task, position, TaskPurpose::task);
}

KernelResult ExchangeRun::run_pack(const KernelCall& call) noexcept {
    auto& shipment = *static_cast<Shipment*>(call.args<ShipmentArguments>().shipment);
    ExchangeRun& run = *shipment.run;
    if (!run.stream_.failure.raised()) pack_segments(shipment.segments, tiles_of(shipment.sources), shipment.buffer);
    release(shipment.sources);
    run.stream_.mail->ready(*shipment.letter);
    return {};
}

KernelResult ExchangeRun::run_unpack(const KernelCall& call) noexcept {
    auto& shipment = *static_cast<Shipment*>(call.args<ShipmentArguments>().shipment);
    ExchangeRun& run = *shipment.run;
    if (shipment.stage != Stage::empty && !run.stream_.failure.raised())
        unpack_segments(shipment.segments, shipment.buffer, tiles_of(shipment.targets));
    release(shipment.targets);
    run.ended(shipment);
    return {};
}

KernelResult ExchangeRun::run_copy(const KernelCall& call) noexcept {
    auto& shipment = *static_cast<Shipment*>(call.args<ShipmentArguments>().shipment);
    ExchangeRun& run = *shipment.run;
    if (!run.stream_.failure.raised())
        copy_segments(shipment.segments, tiles_of(shipment.sources), tiles_of(shipment.targets));
    release(shipment.sources);
    release(shipment.targets);
    run.ended(shipment);
    return {};
}

/// One use of each tile has ended; those without further uses go back to StarPU.
void ExchangeRun::release(const std::vector<HeldTile*>& tiles) {
    for (HeldTile* tile : tiles)
        if (--tile->uses == 0) starpu_data_release_on_node(tile->handle, STARPU_MAIN_RAM);
}

void ExchangeRun::Channel::skip_ended() {
    while (first_open < shipments.size() && shipments[first_open]->stage == Stage::ended) ++first_open;
}

void ExchangeRun::ended(Shipment& shipment) {
    const std::shared_ptr<ExchangeRun> alive = std::move(shipment.run);  // another thread may end the last
    if (shipment.buffer != nullptr) {
        stream_.shared.memory.give(shipment.buffer, parcel_buffer_bytes(shipment.parcel.bytes));
        if (shipment.way == Way::unpacked) stream_.mail->promises()->kept(position_ - 1);
    }
    shipment.buffer = nullptr;
    Channel* channel = shipment.channel;
    bool last = false;
    {
        const std::lock_guard lock(mutex_);
        shipment.stage = Stage::ended;
        if (channel != nullptr) channel->skip_ended();
        last = --left_ == 0;
    }
    if (last)
        stream_.progress.finished();
    else if (channel != nullptr)
        begin_admitted(*channel);
}

}  // namespace tesela::starpu
