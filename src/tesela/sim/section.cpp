#include "tesela/sim/internal/section.hpp"

#include "tesela/base/error.hpp"
#include "tesela/sim/rank_model.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace tesela::sim {
namespace {

Touch touch_of(AccessMode mode) {
    if (mode == AccessMode::read) return Touch::read;
    return mode == AccessMode::commute || mode == AccessMode::disjoint ? Touch::commute : Touch::write;
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
        for (std::uint32_t item = first_item; item < count; ++item) add_item(item);
        transpose();
        return std::move(section_);
    }

private:
    void add_item(std::uint32_t number) {
        const RecordedItem& item = in_.recording.items[number];
        const auto datum = [&] { return in_.recording.accesses[item.first_access].datum; };
        switch (item.kind) {
            case RecordedItem::Kind::task: return add_task(number, item);
            case RecordedItem::Kind::exchange: return add_exchange(number, item);
            case RecordedItem::Kind::move: return add_move(number, datum(), item.node);
            case RecordedItem::Kind::retire: return copies_.drop_others(datum(), copies_.owner(datum()));
            case RecordedItem::Kind::fetch:
                for (std::int32_t node = 0; node < nodes(); ++node)
                    bring(datum(), node, {number, std::numeric_limits<std::int32_t>::max()});
                return;
            case RecordedItem::Kind::workers:
                for (auto& list : section_.submissions) list.push_back({number, Submission::none});
                return;
        }
    }

    [[nodiscard]] std::int32_t nodes() const { return static_cast<std::int32_t>(in_.type_of_node.size()); }

    /// What a message belongs to.
    struct Cause {
        std::uint32_t item;
        std::int32_t priority;
    };

    void add_task(std::uint32_t number, const RecordedItem& item) {
        const auto accesses = in_.recording.accesses_of(item);
        for (const RecordedAccess& access : accesses)
            if (reads(access.mode)) bring(access.datum, item.node, {number, item.priority});
        const std::uint32_t v = begin_vertex({.node = item.node,
                                              .priority = item.priority,
                                              .item = number,
                                              .work = durations_.number_of(work_of(item)),
                                              .urgency = item.urgency,
                                              .resource = item.resource,
                                              .noise = in_.noise(number)});
        for (const RecordedAccess& access : accesses) use(v, access.datum, item.node, access.mode);
        end_vertex(v);
        ++section_.tasks;
        for (const RecordedAccess& access : accesses)
            if (writes(access.mode)) written(access.datum, item.node, {number, item.priority});
    }

    /// What a target tile gets: a message with all its parts from each node that has some, then the copy into the tile.
    void add_exchange(std::uint32_t number, const RecordedItem& item) {
        const auto accesses = in_.recording.accesses_of(item);
        const auto parts = in_.recording.parts_of(item);
        std::map<std::int32_t, double> bytes_from;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            const std::int32_t owner = copies_.owner(accesses[k].datum);
            bring(accesses[k].datum, owner, {number, item.priority});  // where it is from the beginning
            if (owner != item.node) bytes_from[owner] += static_cast<double>(parts[k]);
        }
        std::vector<std::pair<std::uint32_t, std::uint32_t>> arrived;  // message and what it fills
        for (const auto& [from, bytes] : bytes_from) {
            const std::uint32_t v =
                begin_vertex({.node = from, .to = item.node, .priority = item.priority, .item = number});
            for (std::size_t k = 0; k < parts.size(); ++k)
                if (copies_.owner(accesses[k].datum) == from) use(v, accesses[k].datum, from, AccessMode::read);
            arrived.emplace_back(v, copies_.add_buffer(accesses[0].datum, item.node, bytes));
            use_buffer(v, arrived.back().second, AccessMode::write);
            section_.vertices[v].bytes = bytes;
            end_vertex(v);
        }
        const RecordedAccess& target = accesses.back();
        if (reads(target.mode)) bring(target.datum, item.node, {number, item.priority});
        const std::uint32_t v = begin_vertex({.node = item.node,
                                              .priority = item.priority,
                                              .item = number,
                                              .work = durations_.number_of(work_of(item)),
                                              .noise = in_.noise(number)});
        for (const auto& [message, buffer] : arrived) {
            use_buffer(v, buffer, AccessMode::read);
            needs_.push_back(message);
        }
        for (std::size_t k = 0; k < parts.size(); ++k)
            if (copies_.owner(accesses[k].datum) == item.node) use(v, accesses[k].datum, item.node, AccessMode::read);
        use(v, target.datum, item.node, target.mode);
        end_vertex(v);
        written(target.datum, item.node, {number, item.priority});
    }

    void use_buffer(std::uint32_t v, std::uint32_t buffer, AccessMode mode) {
        ++copies_[buffer].users;
        section_.uses.push_back({buffer, mode});
        ++section_.vertices[v].use_count;
    }

    void add_move(std::uint32_t number, std::int32_t datum, std::int32_t to) {
        bring(datum, to, {number, 0});
        copies_.set_owner(datum, to);
        copies_.next_version(datum);
        copies_.drop_others(datum, to);
    }

    /// Makes a node hold the current value: a message from the owner, unless it does already.
    void bring(std::int32_t datum, std::int32_t to, Cause cause) {
        const std::int32_t owner = copies_.owner(datum);
        if (copies_.find(datum, owner) == no_copy) section_.initial.push_back(copies_.add(datum, owner));
        if (copies_.find(datum, to) == no_copy) send(datum, owner, to, cause);
    }

    /// The copies elsewhere are out of date; the owner gets the value if it was written on another node.
    void written(std::int32_t datum, std::int32_t node, Cause cause) {
        copies_.next_version(datum);
        copies_.drop_others(datum, node);
        const std::int32_t owner = copies_.owner(datum);
        if (node != owner) send(datum, node, owner, cause);
    }

    void send(std::int32_t datum, std::int32_t from, std::int32_t to, Cause cause) {
        const std::uint32_t v = begin_vertex({.node = from, .to = to, .priority = cause.priority, .item = cause.item});
        use(v, datum, from, AccessMode::read);
        use(v, datum, to, AccessMode::write);
        section_.vertices[v].bytes = copies_[section_.uses.back().copy].bytes;
        end_vertex(v);
    }

    std::uint32_t begin_vertex(Vertex vertex) {
        vertex.first_use = static_cast<std::uint32_t>(section_.uses.size());
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
            throw Error("no worker of node type \"{}\" has a duration for the kernel {}: add it to the platform",
                        in_.platform.node_types[type].name, durations_.kernel(vertex.work).name);
        return seconds;
    }

    /// Durations depend on the longest side of the tiles, what is done to them, and their ranks.
    [[nodiscard]] Work work_of(const RecordedItem& item) const {
        std::array<UsedTile, 32> tiles;
        std::size_t count = 0;
        KernelWork amount{.tile = 1, .flops = item.cost.flops, .bytes = item.cost.bytes};
        bool low_rank = false;
        for (const RecordedAccess& access : in_.recording.accesses_of(item)) {
            TileShape shape = in_.recording.data[static_cast<std::size_t>(access.datum)].shape;
            shape.rank = in_.ranks[static_cast<std::size_t>(access.datum)];
            amount.tile = std::max({amount.tile, shape.rows, shape.cols});
            if (writes(access.mode)) amount.elements = static_cast<double>(shape.rows * shape.cols);
            low_rank |= shape.rank != dense_rank;
            if (count < tiles.size()) tiles[count++] = {shape, access.mode};
        }
        const bool scaled = low_rank && in_.ranks_change_durations;
        return {item.kernel, amount, scaled ? low_rank_work_ratio({tiles.data(), count}) : 1};
    }

    /// From what each vertex needs to who needs it.
    void transpose() {
        const std::size_t count = section_.vertices.size();
        section_.waits_for.resize(count);
        section_.first_successor.assign(count + 1, 0);
        for (const std::uint32_t need : all_needs_) ++section_.first_successor[need + 1];
        for (std::size_t v = 0; v < count; ++v) section_.first_successor[v + 1] += section_.first_successor[v];
        section_.successors.resize(all_needs_.size());
        std::vector<std::uint32_t> next(section_.first_successor.begin(), section_.first_successor.end() - 1);
        for (std::uint32_t v = 0; v < count; ++v) {
            section_.waits_for[v] = first_need_[v + 1] - first_need_[v];
            for (std::uint32_t k = first_need_[v]; k < first_need_[v + 1]; ++k)
                section_.successors[next[all_needs_[k]]++] = v;
        }
    }

    const SectionInput& in_;
    Copies& copies_;
    Durations& durations_;
    Section section_;
    std::vector<std::uint32_t> touch_of_slot_;
    std::vector<LastTouch> touches_;
    std::vector<std::uint32_t> needs_;
    std::vector<std::uint32_t> all_needs_;
    std::vector<std::uint32_t> first_need_;
    std::vector<double> path_;
};

}  // namespace

Section build_section(const SectionInput& input, std::uint32_t first_item, Copies& copies, Durations& durations) {
    return Builder(input, copies, durations).build(first_item);
}

}  // namespace tesela::sim
