#include "tesela/sim/internal/section.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/access_rules.hpp"
#include "tesela/flow/exchange.hpp"
#include "tesela/sim/internal/parcel_kernels.hpp"
#include "tesela/sim/kernel_work.hpp"
#include "tesela/sim/rank_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace tesela::sim {
namespace {

/// A number for each datum, the same for those of equal shape and rank.
std::vector<std::uint32_t> number_shapes(const SectionInput& input) {
    std::map<std::array<Index, 3>, std::uint32_t> known;
    std::vector<std::uint32_t> numbers;
    numbers.reserve(input.recording.data.size());
    std::array<Index, 3> last{};
    for (std::size_t d = 0; d < input.recording.data.size(); ++d) {
        const TileShape& shape = input.recording.data[d].shape;
        const std::array<Index, 3> now{shape.rows, shape.cols, input.ranks[d]};
        // Neighbours are mostly alike, and need no search.
        if (d > 0 && now == last)
            numbers.push_back(numbers.back());
        else
            numbers.push_back(known.try_emplace(now, static_cast<std::uint32_t>(known.size())).first->second);
        last = now;
    }
    return numbers;
}

/// The kind of work of the task that a kernel had last. Most tasks of a kernel do the same, and then neither the shapes
/// of their tiles need to be looked up, which are spread over memory, nor the kind of work.
class LastWork {
public:
    /// Whether a task has the same kernel, cost and tiles of equal shapes, used alike.
    [[nodiscard]] bool is(const RecordedItem& item, std::span<const RecordedAccess> accesses,
                          const std::vector<std::uint32_t>& shapes) const {
        if (item.kernel != kernel_ || item.cost.flops != cost_.flops || item.cost.bytes != cost_.bytes) return false;
        if (accesses.size() != count_ || count_ > tiles_.size()) return false;
        for (std::size_t k = 0; k < count_; ++k)
            if (tiles_[k] != tile(accesses[k], shapes)) return false;
        return true;
    }
    void remember(const RecordedItem& item, std::span<const RecordedAccess> accesses,
                  const std::vector<std::uint32_t>& shapes, std::uint32_t number) {
        kernel_ = item.kernel;
        cost_ = item.cost;
        count_ = accesses.size();
        for (std::size_t k = 0; k < std::min(count_, tiles_.size()); ++k) tiles_[k] = tile(accesses[k], shapes);
        number_ = number;
    }
    [[nodiscard]] std::uint32_t number() const { return number_; }

private:
    using Tile = std::pair<std::uint32_t, AccessMode>;
    static Tile tile(const RecordedAccess& access, const std::vector<std::uint32_t>& shapes) {
        return {shapes[static_cast<std::size_t>(access.datum)], access.mode};
    }
    const Kernel* kernel_ = nullptr;
    KernelCost cost_{};
    std::size_t count_ = 0;
    std::array<Tile, 6> tiles_{};
    std::uint32_t number_ = 0;
};

/// Walks the items once. Every node orders the uses of what it holds of a datum by itself, as StarPU does with its
/// handles; messages read on one node and write on another, which is all that orders the nodes among each other.
class Builder {
public:
    Builder(const SectionInput& input, Copies& copies, Durations& durations)
        : in_(input),
          copies_(copies),
          durations_(durations),
          touch_of_slot_(copies.slots(), 0),
          shapes_(number_shapes(input)) {
        section_.submissions.resize(input.type_of_node.size());
        section_.given_up.resize(input.type_of_node.size());
        touches_.emplace_back();  // number 0 is none
        first_need_.push_back(0);
    }

    Section build(const SectionItems& items) {
        section_.first_item = items.first;
        reserve(items.first, items.end);
        const std::vector<GivenUpMatrix> given_up = list_given_up(items.wait);
        auto gone = given_up.begin();
        for (std::uint32_t item = items.first; item < items.end; ++item) {
            for (; gone != given_up.end() && gone->before_item <= item; ++gone) give_up(gone->matrix);
            add_item(item);
        }
        for (; gone != given_up.end(); ++gone) give_up(gone->matrix);
        transpose();
        return std::move(section_);
    }

private:
    /// Room for the tasks of the items and for some messages, so that large arrays need not be copied as they grow.
    void reserve(std::uint32_t first_item, std::uint32_t end_item) {
        if (first_item == end_item) return;
        const auto with_messages = [](std::size_t entries) { return entries + entries / 4; };
        const auto& items = in_.recording.items;
        const std::size_t end_access =
            end_item < items.size() ? items[end_item].first_access : in_.recording.accesses.size();
        const std::size_t vertices = with_messages(end_item - first_item);
        // A change of workers has no accesses, and does not say where they begin.
        const std::size_t uses =
            with_messages(end_access - std::min<std::size_t>(end_access, items[first_item].first_access));
        section_.vertices.reserve(vertices);
        section_.uses.reserve(uses);
        all_needs_.reserve(uses);
        first_need_.reserve(vertices + 1);
        path_.reserve(vertices);
    }

    struct GivenUpMatrix {
        std::uint32_t before_item = 0;
        const RecordedMatrix* matrix = nullptr;
    };
    /// The matrices that were given up before a wait and after the one before it, in order.
    [[nodiscard]] std::vector<GivenUpMatrix> list_given_up(std::uint32_t wait) const {
        std::vector<GivenUpMatrix> result;
        for (const RecordedMatrix& matrix : in_.recording.grids)
            if (matrix.given_up != RecordedMatrix::kept && matrix.waits_before == wait)
                result.push_back({matrix.given_up, &matrix});
        std::ranges::stable_sort(result, {}, &GivenUpMatrix::before_item);
        return result;
    }

    /// As the StarPU engine: each node gives back what it holds of a matrix when it comes to this point of the stream
    /// and the tasks before have ended. Memory that the caller brought stays his.
    void give_up(const RecordedMatrix* matrix) {
        const auto nodes = static_cast<std::int32_t>(in_.type_of_node.size());
        for (std::int32_t datum = matrix->first_datum; datum < matrix->first_datum + matrix->tiles.count(); ++datum)
            for (std::int32_t node = 0; node < nodes; ++node) {
                const std::uint32_t copy = copies_.find(datum, node);
                if (copy == no_copy || is_callers(datum, node)) continue;
                ++copies_[copy].users;
                copies_.drop(datum, node);
                const auto n = static_cast<std::size_t>(node);
                section_.given_up[n].push_back({static_cast<std::uint32_t>(section_.submissions[n].size()), copy});
            }
    }
    [[nodiscard]] bool is_callers(std::int32_t datum, std::int32_t node) const {
        const auto d = static_cast<std::size_t>(datum);
        return in_.recording.data[d].value == Directory::Value::given && in_.owners[d] == node;
    }

    void add_item(std::uint32_t number) {
        const RecordedItem& item = in_.recording.items[number];
        cause_ = {number, item.priority};
        switch (item.kind) {
            case RecordedItem::Kind::task: return add_task(number, item);
            case RecordedItem::Kind::exchange: return add_exchange(number, item);
            case RecordedItem::Kind::workers:
                for (auto& list : section_.submissions) list.push_back({number, SubmissionStep::worker_set});
                return;
            case RecordedItem::Kind::fetch: cause_.priority = std::numeric_limits<std::int32_t>::max(); [[fallthrough]];
            default: return follow_placement(in_.recording, item, directory(), *this);
        }
    }

    [[nodiscard]] Directory& directory() { return copies_.directory(); }
    void add_task(std::uint32_t number, const RecordedItem& item) {
        struct Place {
            Directory& directory;
            std::size_t datum;
            Builder& effects;
        };
        const auto accesses = in_.recording.accesses_of(item);
        const std::int32_t node = node_of(in_.recording, item, directory());
        follow_task(
            accesses, node,
            [&](const RecordedAccess& access) {
                return Place{directory(), static_cast<std::size_t>(access.datum), *this};
            },
            [&] {
                const std::uint32_t v = begin_vertex({.node = node,
                                                      .priority = item.priority,
                                                      .item = number,
                                                      .work = work_number(item),
                                                      .urgency = item.urgency,
                                                      .resource = in_.resources.of(in_.recording, item),
                                                      .noise = in_.noise(number, 0)});
                for (const RecordedAccess& access : accesses) {
                    if (reads(access.mode)) know_initial(access.datum, node);
                    use(v, access.datum, node, access.mode);
                }
                end_vertex(v);
                ++section_.tasks;
            });
    }

    // --- an exchange: its items are its target tiles; its tasks and messages, at the first of them, are of its parcels

    void add_exchange(std::uint32_t number, const RecordedItem& item) {
        const RecordedExchange& whole = in_.recording.exchanges[item.exchange];
        if (number == whole.first_item) add_parcels(whole);
        directory().written(static_cast<std::size_t>(in_.recording.accesses_of(item).back().datum), *this);
    }

    void add_parcels(const RecordedExchange& whole) {
        // The engine holds a target tile from its first part to its last; what else commutes on it is not among them.
        end_commuting_on_targets(whole);
        std::map<std::pair<Index, Index>, std::vector<Sent>> sent;
        std::set<std::int32_t> asked;
        SimulatedExchange& listed = section_.exchanges.emplace_back();
        for (const Parcel& parcel : parcels_of(in_.recording, whole, directory()).parcels) {
            const ParcelOf one{whole, parcel, static_cast<std::int32_t>(parcel.from.number()),
                               static_cast<std::int32_t>(parcel.to.number())};
            listed.parcels.push_back(
                {parcel.bytes, data_of(whole.from, parcel.sources), data_of(whole.to, parcel.targets)});
            ask_for(listed.parcels.back().sources, one.from, asked);
            ask_for(listed.parcels.back().targets, one.to, asked);
            if (one.from == one.to) {
                copy_parcel(one);
            } else {
                auto& before = sent[{one.from, one.to}];
                before.push_back(send_parcel(one, before));
            }
        }
        end_commuting_on_targets(whole);
    }

    struct ParcelOf {
        const RecordedExchange& exchange;
        const Parcel& parcel;
        std::int32_t from = 0;
        std::int32_t to = 0;
    };
    /// The message of a parcel, and the last that is done for it: the message, or the task that unpacks it.
    struct Sent {
        std::uint32_t message = 0;
        std::uint32_t last = 0;
    };

    /// A node asks StarPU for each of its tiles once, which takes as long as a task.
    void ask_for(std::span<const std::int32_t> tiles, std::int32_t node, std::set<std::int32_t>& asked) {
        auto& steps = section_.submissions[static_cast<std::size_t>(node)];
        for (const std::int32_t tile : tiles)
            if (asked.insert(tile).second) steps.push_back({cause_.item, SubmissionStep::tile});
    }

    void end_commuting_on_targets(const RecordedExchange& whole) {
        for (std::uint32_t item = whole.first_item; item < whole.first_item + whole.items; ++item) {
            const std::int32_t target = in_.recording.accesses_of(in_.recording.items[item]).back().datum;
            touch_at(target, copies_.owner(target)).end_commuting();
        }
    }
    [[nodiscard]] std::vector<std::int32_t> data_of(std::int32_t matrix, std::span<const TileIndex> tiles) const {
        std::vector<std::int32_t> data;
        data.reserve(tiles.size());
        for (const TileIndex tile : tiles) data.push_back(static_cast<std::int32_t>(in_.recording.datum(matrix, tile)));
        return data;
    }

    /// Copies that stay on a node fill the gaps between those that others wait for.
    void copy_parcel(const ParcelOf& one) {
        const std::uint32_t v = begin_parcel_task(ParcelKernels::copy, one, one.from);
        --section_.vertices[v].priority;
        use_sources(v, one);
        use_targets(v, one);
        end_vertex(v);
    }

    Sent send_parcel(const ParcelOf& one, std::span<const Sent> before) {
        const auto room = static_cast<double>(parcel_buffer_bytes(one.parcel.bytes));
        const bool leaves_tile = in_one_piece(one, ParcelEnd::source);
        const bool enters_tile = in_one_piece(one, ParcelEnd::target);
        std::uint32_t packed = no_vertex;
        std::uint32_t buffer = no_copy;
        if (!leaves_tile) {
            buffer = copies_.add_buffer(section_.exchanges.back().parcels.back().sources.front(), one.from, room);
            packed = begin_parcel_task(ParcelKernels::pack, one, one.from);
            wait_for_earlier(before, &Sent::message, one);
            use_sources(packed, one);
            use_buffer(packed, buffer, AccessMode::write);
            end_vertex(packed);
        }
        const std::uint32_t message = begin_vertex({.node = one.from,
                                                    .to = one.to,
                                                    .priority = cause_.priority,
                                                    .item = cause_.item,
                                                    .bytes = static_cast<double>(one.parcel.bytes),
                                                    .datum = Vertex::parcel,
                                                    .version = static_cast<std::uint32_t>(one.parcel.number)});
        wait_for_earlier(before, &Sent::last, one);
        if (leaves_tile) {
            wait_for_earlier(before, &Sent::message, one);
            use_sources(message, one);
        } else {
            needs_.push_back(packed);
            use_buffer(message, buffer, AccessMode::read);
        }
        if (enters_tile) {
            use_targets(message, one);
            end_vertex(message);
            return {message, message};
        }
        buffer = copies_.add_buffer(section_.exchanges.back().parcels.back().targets.front(), one.to, room);
        use_buffer(message, buffer, AccessMode::write);
        end_vertex(message);
        const std::uint32_t unpacked = begin_parcel_task(ParcelKernels::unpack, one, one.to);
        needs_.push_back(message);
        use_buffer(unpacked, buffer, AccessMode::read);
        use_targets(unpacked, one);
        end_vertex(unpacked);
        return {message, unpacked};
    }

    /// Memory of the caller counts as without gaps between the columns of a tile.
    [[nodiscard]] bool in_one_piece(const ParcelOf& one, ParcelEnd end) const {
        if (one.parcel.segments.size() != 1) return false;
        const SimulatedParcel& listed = section_.exchanges.back().parcels.back();
        const std::int32_t tile = (end == ParcelEnd::source ? listed.sources : listed.targets).front();
        return stands_in_one_piece(
            segment_arguments(one.parcel.segments.front(), one.exchange.overlay->problem().orientation,
                              one.exchange.element_bytes),
            end, in_.recording.data[static_cast<std::size_t>(tile)].shape.rows);
    }

    /// Between two nodes so many parcels are under way, from the oldest that is not done on
    /// (ExchangeOptions::in_flight). The earliest of these have waited for those before them.
    void wait_for_earlier(std::span<const Sent> before, std::uint32_t Sent::*done, const ParcelOf& one) {
        const Index most = one.exchange.options.in_flight;
        const Index last = ended_before(static_cast<Index>(before.size()), most);
        for (Index k = std::max<Index>(0, last - most + 1); k <= last; ++k)
            needs_.push_back(before[static_cast<std::size_t>(k)].*done);
    }

    std::uint32_t begin_parcel_task(const Kernel& kernel, const ParcelOf& one, std::int32_t node) {
        const auto bytes = static_cast<double>(one.parcel.bytes);
        const double elements = bytes / static_cast<double>(one.exchange.element_bytes);
        // As long as a square tile of so many elements would take.
        const KernelWork amount{
            .tile = std::max<Index>(1, std::llround(std::sqrt(elements))), .bytes = 2 * bytes, .elements = elements};
        const auto number = static_cast<std::uint32_t>(one.parcel.number);
        const std::uint32_t part = 2 * number + (&kernel == &ParcelKernels::pack ? 1U : 2U);
        ++section_.tasks;
        return begin_vertex({.node = node,
                             .priority = cause_.priority,
                             .item = cause_.item,
                             .work = durations_.number_of({&kernel, amount}),
                             .noise = in_.noise(cause_.item, part),
                             .version = number});
    }

    void use_sources(std::uint32_t v, const ParcelOf& one) {
        for (const std::int32_t datum : section_.exchanges.back().parcels.back().sources) {
            know_initial(datum, one.from);
            use(v, datum, one.from, AccessMode::read);
        }
    }
    /// Parts of tiles, in any order. A tile that is not filled keeps what it has beside them.
    void use_targets(std::uint32_t v, const ParcelOf& one) {
        const auto& data = section_.exchanges.back().parcels.back().targets;
        for (std::size_t k = 0; k < data.size(); ++k) {
            const bool filled = one.exchange.overlay->covers(one.parcel.targets[k]);
            if (!filled) know_initial(data[k], one.to);
            add_use(v, data[k], one.to, filled ? AccessMode::write : AccessMode::read_write);
            touch_at(data[k], one.to).touch(Touch::commute, v, needs_);
        }
    }

    void use_buffer(std::uint32_t v, std::uint32_t buffer, AccessMode mode) {
        ++copies_[buffer].users;
        section_.uses.push_back({buffer, mode});
        ++section_.vertices[v].use_count;
    }

    /// What is read without having been written was there from the beginning.
    void know_initial(std::int32_t datum, std::int32_t node) {
        if (copies_.find(datum, node) == no_copy) section_.initial.push_back(add_copy(datum, node));
    }

public:  // effects of the directory
    /// One message after the other to these nodes.
    void send(std::size_t which, std::int32_t from, std::span<const std::int32_t> to) {
        const auto datum = static_cast<std::int32_t>(which);
        know_initial(datum, from);
        std::uint32_t before = no_vertex;
        for (const std::int32_t node : to) {
            const std::uint32_t v =
                begin_vertex({.node = from, .to = node, .priority = cause_.priority, .item = cause_.item});
            if (before != no_vertex) needs_.push_back(before);
            use(v, datum, from, AccessMode::read);
            copies_.drop(datum, node);  // the owner's old value: a new one arrives beside it
            use(v, datum, node, AccessMode::write);
            Vertex& message = section_.vertices[v];
            message.bytes = in_.message_bytes[which];
            message.datum = datum;
            message.version = directory().version(which);
            end_vertex(v);
            before = v;
        }
    }
    void take(std::size_t, std::int32_t) {}
    void drop(std::size_t datum, std::int32_t node) { copies_.drop(static_cast<std::int32_t>(datum), node); }

private:
    std::uint32_t begin_vertex(const Vertex& described) {
        Vertex& vertex = section_.vertices.emplace_back(described);
        vertex.first_use = static_cast<std::uint32_t>(section_.uses.size());
        vertex.stream = in_.stream_of_item[vertex.item];
        needs_.clear();
        return static_cast<std::uint32_t>(section_.vertices.size() - 1);
    }

    void use(std::uint32_t v, std::int32_t datum, std::int32_t node, AccessMode mode) {
        add_use(v, datum, node, mode);
        touch_at(datum, node).touch(touch_of(mode), v, needs_);
    }

    void add_use(std::uint32_t v, std::int32_t datum, std::int32_t node, AccessMode mode) {
        std::uint32_t copy = copies_.find(datum, node);
        if (copy == no_copy) copy = add_copy(datum, node);
        ++copies_[copy].users;
        section_.uses.push_back({copy, mode});
        ++section_.vertices[v].use_count;
    }

    std::uint32_t add_copy(std::int32_t datum, std::int32_t node) {
        const std::uint32_t copy = copies_.add(datum, node);
        const auto d = static_cast<std::size_t>(datum);
        const auto matrix = static_cast<std::size_t>(in_.recording.data[d].matrix);
        const bool at_once = in_.recording.grids[matrix].allocation == Allocation::at_once;
        if (at_once && node == in_.owners[d] && copies_.is_new(datum)) section_.at_once.push_back(copy);
        return copy;
    }

    [[nodiscard]] LastTouch& touch_at(std::int32_t datum, std::int32_t node) {
        std::uint32_t& touch = touch_of_slot_[copies_.slot(datum, node)];
        if (touch == 0) {
            touch = static_cast<std::uint32_t>(touches_.size());
            touches_.emplace_back();
        }
        return touches_[touch];
    }

    void end_vertex(std::uint32_t v) {
        tidy_dependencies(v, needs_);
        all_needs_.insert(all_needs_.end(), needs_.begin(), needs_.end());
        first_need_.push_back(static_cast<std::uint32_t>(all_needs_.size()));
        const Vertex& vertex = section_.vertices[v];
        double start = 0;
        for (const std::uint32_t need : needs_) start = std::max(start, path_[need]);
        path_.push_back(start + (vertex.message() ? 0 : least(vertex) * vertex.noise));
        section_.critical_path = std::max(section_.critical_path, path_.back());
        section_.submissions[static_cast<std::size_t>(vertex.node)].push_back({vertex.item, v});
        if (vertex.message()) section_.submissions[static_cast<std::size_t>(vertex.to)].push_back({vertex.item, v});
    }

    [[nodiscard]] double least(const Vertex& vertex) const {
        const std::size_t type = in_.type_of_node[static_cast<std::size_t>(vertex.node)];
        const double seconds = durations_.least(vertex.work, type);
        if (seconds == Durations::never)
            no_duration(in_.platform.node_types[type], durations_.kernel(vertex.work).name);
        return seconds;
    }

    /// Durations depend on the longest side of the tiles, what is done to them, and their ranks.
    [[nodiscard]] Work work_of(const RecordedItem& item) {
        ranked_.clear();
        for (const RecordedAccess& access : in_.recording.accesses_of(item)) {
            const RecordedDatum& datum = in_.recording.data[static_cast<std::size_t>(access.datum)];
            if (is_token(datum)) continue;
            TileShape shape = datum.shape;
            shape.rank = in_.ranks[static_cast<std::size_t>(access.datum)];
            if (ranked_.size() < most_tiles) ranked_.push_back(shape);
        }
        const double ratio = in_.ranks_change_durations
                                 ? low_rank_time_ratio(*item.kernel, item.cost, ranked_, in_.platform.recompression)
                                 : 1;
        return {item.kernel, kernel_work(in_.recording, item), ratio};
    }

    [[nodiscard]] std::uint32_t work_number(const RecordedItem& item) {
        const auto accesses = in_.recording.accesses_of(item);
        LastWork& last = last_works_[std::hash<const void*>{}(item.kernel) / alignof(Kernel) % last_works_.size()];
        if (!last.is(item, accesses, shapes_))
            last.remember(item, accesses, shapes_, durations_.number_of(work_of(item)));
        return last.number();
    }

    /// From what each vertex needs to who needs it.
    void transpose() {
        const std::size_t count = section_.vertices.size();
        section_.waits_for.resize(count);
        section_.first_successor.assign(count + 1, 0);
        for (const std::uint32_t need : all_needs_) ++section_.first_successor[need + 1];
        for (std::size_t v = 0; v < count; ++v) section_.first_successor[v + 1] += section_.first_successor[v];
        section_.successors.resize(all_needs_.size());
        LargeArray<std::uint32_t> next(section_.first_successor.begin(), section_.first_successor.end() - 1);
        for (std::uint32_t v = 0; v < count; ++v) {
            section_.waits_for[v] = first_need_[v + 1] - first_need_[v];
            for (std::uint32_t k = first_need_[v]; k < first_need_[v + 1]; ++k)
                section_.successors[next[all_needs_[k]]++] = v;
        }
    }

    /// What messages belong to.
    struct Cause {
        std::uint32_t item = 0;
        std::int32_t priority = 0;
    };
    static constexpr std::uint32_t no_vertex = ~std::uint32_t{0};
    /// Of an exchange, which may have any number.
    static constexpr std::size_t most_tiles = 32;

    const SectionInput& in_;
    Cause cause_;
    Copies& copies_;
    Durations& durations_;
    Section section_;
    std::vector<std::uint32_t> touch_of_slot_;
    std::vector<LastTouch> touches_;
    std::vector<std::uint32_t> needs_;
    LargeArray<std::uint32_t> all_needs_;
    LargeArray<std::uint32_t> first_need_;
    LargeArray<double> path_;
    std::vector<TileShape> ranked_;        // of a task's tiles
    std::vector<std::uint32_t> shapes_;    // per datum
    std::array<LastWork, 64> last_works_;  // by a hash of the kernel
};

}  // namespace

Section build_section(const SectionInput& input, const SectionItems& items, Copies& copies, Durations& durations) {
    return Builder(input, copies, durations).build(items);
}

}  // namespace tesela::sim
