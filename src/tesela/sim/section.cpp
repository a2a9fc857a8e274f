#include "tesela/sim/internal/section.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/access_rules.hpp"
#include "tesela/sim/rank_model.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace tesela::sim {
namespace {

bool same(const Work& a, const Work& b) {
    return a.kernel == b.kernel && a.amount.tile == b.amount.tile && a.amount.flops == b.amount.flops &&
           a.amount.bytes == b.amount.bytes && a.amount.elements == b.amount.elements && a.ratio == b.ratio;
}

/// Walks the items once. Every node orders the uses of what it holds of a datum by itself, as StarPU does with its
/// handles; messages read on one node and write on another, which is all that orders the nodes among each other.
class Builder {
public:
    Builder(const SectionInput& input, Copies& copies, Durations& durations)
        : in_(input),
          copies_(copies),
          durations_(durations),
          touch_of_slot_(copies.slots(), 0) {
        section_.submissions.resize(input.type_of_node.size());
        touches_.emplace_back();  // number 0 is none
        first_need_.push_back(0);
    }

    Section build(std::uint32_t first_item) {
        section_.first_item = first_item;
        const auto count = static_cast<std::uint32_t>(in_.recording.items.size());
        reserve(first_item, count);
        for (std::uint32_t item = first_item; item < count; ++item) add_item(item);
        transpose();
        return std::move(section_);
    }

private:
    /// Room for the tasks of the items and for some messages, so that large arrays need not be copied as they grow.
    void reserve(std::uint32_t first_item, std::uint32_t count) {
        if (first_item == count) return;
        const auto with_messages = [](std::size_t entries) { return entries + entries / 4; };
        const std::size_t vertices = with_messages(count - first_item);
        const std::size_t uses =
            with_messages(in_.recording.accesses.size() - in_.recording.items[first_item].first_access);
        section_.vertices.reserve(vertices);
        section_.uses.reserve(uses);
        all_needs_.reserve(uses);
        first_need_.reserve(vertices + 1);
        path_.reserve(vertices);
    }

    void add_item(std::uint32_t number) {
        const RecordedItem& item = in_.recording.items[number];
        cause_ = {number, item.priority};
        switch (item.kind) {
            case RecordedItem::Kind::task: return add_task(number, item);
            case RecordedItem::Kind::exchange: return add_exchange(number, item);
            case RecordedItem::Kind::workers:
                for (auto& list : section_.submissions) list.push_back({number, SubmissionStep::none});
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
        follow_task(
            accesses, item.node,
            [&](const RecordedAccess& access) {
                return Place{directory(), static_cast<std::size_t>(access.datum), *this};
            },
            [&] {
                const std::uint32_t v = begin_vertex({.node = item.node,
                                                      .priority = item.priority,
                                                      .item = number,
                                                      .work = number_of(work_of(item)),
                                                      .urgency = item.urgency,
                                                      .resource = item.resource,
                                                      .noise = in_.noise(number)});
                for (const RecordedAccess& access : accesses) {
                    if (reads(access.mode)) know_initial(access.datum, item.node);
                    use(v, access.datum, item.node, access.mode);
                }
                end_vertex(v);
                ++section_.tasks;
            });
    }

    /// What a target tile gets: the parcels that have some of it, then the copy into the tile.
    void add_exchange(std::uint32_t number, const RecordedItem& item) {
        const RecordedExchange& whole = in_.recording.exchanges[item.exchange];
        if (number == whole.first_item) send_parcels(whole);
        const auto accesses = in_.recording.accesses_of(item);
        const RecordedAccess& target = accesses.back();
        const std::int32_t node = copies_.owner(target.datum);
        const std::uint32_t v = begin_vertex({.node = node,
                                              .priority = item.priority,
                                              .item = number,
                                              .work = number_of(work_of(item)),
                                              .noise = in_.noise(number)});
        for (const Arrived& parcel : arriving_[target.datum]) {
            use_buffer(v, parcel.buffer, AccessMode::read);
            needs_.push_back(parcel.message);
        }
        for (const RecordedAccess& source : accesses.first(accesses.size() - 1)) {
            if (copies_.owner(source.datum) != node) continue;
            know_initial(source.datum, node);
            use(v, source.datum, node, AccessMode::read);
        }
        if (reads(target.mode)) know_initial(target.datum, node);
        use(v, target.datum, node, target.mode);
        end_vertex(v);
        directory().written(static_cast<std::size_t>(target.datum), *this);
    }

    /// The messages of an exchange; each fills a buffer that its target tiles are filled from.
    void send_parcels(const RecordedExchange& whole) {
        arriving_.clear();
        for (const Parcel& parcel : parcels_of(in_.recording, whole, directory()).parcels) {
            if (parcel.from == parcel.to) continue;
            const auto from = static_cast<std::int32_t>(parcel.from.number());
            const auto to = static_cast<std::int32_t>(parcel.to.number());
            const std::uint32_t v =
                begin_vertex({.node = from, .to = to, .priority = cause_.priority, .item = cause_.item});
            for (const TileIndex tile : parcel.sources) {
                const auto datum = static_cast<std::int32_t>(in_.recording.datum(whole.from, tile));
                know_initial(datum, from);
                use(v, datum, from, AccessMode::read);
            }
            const auto first = static_cast<std::int32_t>(in_.recording.datum(whole.to, parcel.targets.front()));
            const Arrived arrived{v, copies_.add_buffer(first, to, static_cast<double>(parcel.bytes))};
            use_buffer(v, arrived.buffer, AccessMode::write);
            section_.vertices[v].bytes = static_cast<double>(parcel.bytes);
            section_.vertices[v].version = static_cast<std::uint32_t>(parcel.number);
            section_.vertices[v].datum = Vertex::parcel;
            end_vertex(v);
            for (const TileIndex tile : parcel.targets)
                arriving_[static_cast<std::int32_t>(in_.recording.datum(whole.to, tile))].push_back(arrived);
        }
    }

    void use_buffer(std::uint32_t v, std::uint32_t buffer, AccessMode mode) {
        ++copies_[buffer].users;
        section_.uses.push_back({buffer, mode});
        ++section_.vertices[v].use_count;
    }

    /// What is read without having been written was there from the beginning.
    void know_initial(std::int32_t datum, std::int32_t node) {
        if (copies_.find(datum, node) == no_copy) section_.initial.push_back(copies_.add(datum, node));
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
            message.bytes = copies_[section_.uses.back().copy].bytes;
            message.datum = datum;
            message.version = directory().version(which);
            end_vertex(v);
            before = v;
        }
    }
    void take(std::size_t, std::int32_t) {}
    void drop(std::size_t datum, std::int32_t node) { copies_.drop(static_cast<std::int32_t>(datum), node); }

private:
    std::uint32_t begin_vertex(Vertex vertex) {
        vertex.first_use = static_cast<std::uint32_t>(section_.uses.size());
        vertex.stream = in_.stream_of_item[vertex.item];
        section_.vertices.push_back(vertex);
        needs_.clear();
        return static_cast<std::uint32_t>(section_.vertices.size() - 1);
    }

    void use(std::uint32_t v, std::int32_t datum, std::int32_t node, AccessMode mode) {
        std::uint32_t copy = copies_.find(datum, node);
        if (copy == no_copy) copy = copies_.add(datum, node);
        ++copies_[copy].users;
        section_.uses.push_back({copy, mode});
        ++section_.vertices[v].use_count;
        std::uint32_t& touch = touch_of_slot_[copies_.slot(datum, node)];
        if (touch == 0) {
            touch = static_cast<std::uint32_t>(touches_.size());
            touches_.emplace_back();
        }
        touches_[touch].touch(touch_of(mode), v, needs_);
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
        tiles_.clear();
        KernelWork amount{.tile = 1, .flops = item.cost.flops, .bytes = item.cost.bytes};
        bool low_rank = false;
        for (const RecordedAccess& access : in_.recording.accesses_of(item)) {
            TileShape shape = in_.recording.data[static_cast<std::size_t>(access.datum)].shape;
            shape.rank = in_.ranks[static_cast<std::size_t>(access.datum)];
            amount.add_tile(shape.rows, shape.cols, writes(access.mode));
            low_rank |= shape.rank != dense_rank;
            if (tiles_.size() < most_tiles) tiles_.push_back({shape, access.mode});
        }
        const bool scaled = low_rank && in_.ranks_change_durations;
        return {item.kernel, amount, scaled ? low_rank_work_ratio(tiles_) : 1};
    }

    /// As Durations::number_of. Most tasks of a kernel do the same work, so those asked for last are remembered: a
    /// comparison in place of a hash of six numbers.
    [[nodiscard]] std::uint32_t number_of(const Work& work) {
        KnownWork& known = known_works_[std::hash<const void*>{}(work.kernel) / alignof(Kernel) % known_works_.size()];
        if (!same(known.work, work)) known = {work, durations_.number_of(work)};
        return known.number;
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
    /// A message of an exchange, and the buffer that it fills.
    struct Arrived {
        std::uint32_t message = 0;
        std::uint32_t buffer = 0;
    };
    static constexpr std::uint32_t no_vertex = ~std::uint32_t{0};
    /// Of an exchange, which may have any number.
    static constexpr std::size_t most_tiles = 32;
    /// A kind of work and its number.
    struct KnownWork {
        Work work{};
        std::uint32_t number = 0;
    };

    const SectionInput& in_;
    Cause cause_;
    std::map<std::int32_t, std::vector<Arrived>> arriving_;  // by target tile
    Copies& copies_;
    Durations& durations_;
    Section section_;
    std::vector<std::uint32_t> touch_of_slot_;
    std::vector<LastTouch> touches_;
    std::vector<std::uint32_t> needs_;
    LargeArray<std::uint32_t> all_needs_;
    LargeArray<std::uint32_t> first_need_;
    LargeArray<double> path_;
    std::vector<UsedTile> tiles_;
    std::array<KnownWork, 64> known_works_;
};

}  // namespace

Section build_section(const SectionInput& input, std::uint32_t first_item, Copies& copies, Durations& durations) {
    return Builder(input, copies, durations).build(first_item);
}

}  // namespace tesela::sim
