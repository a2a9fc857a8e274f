#pragma once

#include "tesela/flow/attachment.hpp"
#include "tesela/flow/resource.hpp"
#include "tesela/kernels/kernel.hpp"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>

namespace tesela {

/// One tile of an attached matrix.
struct TileRef {
    Attachment* matrix = nullptr;
    TileIndex index{};

    [[nodiscard]] NodeId owner() const { return matrix->owner(index); }
    [[nodiscard]] TileShape shape() const { return matrix->shape(index); }
    friend bool operator==(const TileRef&, const TileRef&) = default;
};

/// Tiles of a matrix: rows first.i to last.i, columns first.j to last.j, without the last.
struct TileBlock {
    const Attachment* matrix = nullptr;
    TileIndex first{};
    TileIndex last{};
};

/// Who is going to read a tile: nodes, and those that own tiles, whoever that is then.
struct Readers {
    std::span<const NodeId> nodes{};
    std::span<const TileBlock> owners_of{};
};

/// What a task does to one tile.
struct Access {
    TileRef tile{};
    AccessMode mode = AccessMode::read;
};

/// Whether a task may use the worker that is kept for the critical path (paper 000, oversubscription).
enum class Urgency : std::uint8_t { ordinary, critical };

/// Whether a task runs where its first written tile lives, or on a node that the algorithm named.
enum class Placement : std::uint8_t { automatic, named };

/// A phase of a stream: a label for a part of the work. Numbered per stream; names are kept by the stream.
using PhaseId = std::int32_t;

/// One unit of work, as a plain value of fixed size: a kernel, its tiles, its arguments and hints for the scheduler.
/// It runs on the node that owns the first tile it writes, at that point of the stream, unless a node is named.
struct Task {
    static constexpr std::size_t max_accesses = 8;
    static constexpr std::size_t max_argument_bytes = 64;

    const Kernel* kernel = nullptr;
    std::array<Access, max_accesses> accesses;
    std::int32_t access_count = 0;
    std::int32_t priority = 0;
    std::int32_t step = 0;
    PhaseId phase = 0;
    /// Where it runs; filled in by the stream where the placement is automatic.
    Index node = 0;
    Placement placement = Placement::automatic;
    Urgency urgency = Urgency::ordinary;
    /// A resource of which its node has few; looked at when the task is submitted.
    const LimitedResource* resource = nullptr;
    alignas(16) std::array<std::byte, max_argument_bytes> arguments;

    // Accesses and arguments beyond those in use are left unset on purpose: a task is built once per submission.
    Task() {}  // NOLINT(modernize-use-equals-default, cppcoreguidelines-pro-type-member-init)
    Task(const Kernel& k, std::initializer_list<Access> list) : kernel(&k) {  // NOLINT(*-member-init)
        assert(list.size() <= max_accesses);
        for (const Access& access : list) accesses[static_cast<std::size_t>(access_count++)] = access;
    }
    template <class Arguments>
    Task(const Kernel& k, std::initializer_list<Access> list, const Arguments& args) : Task(k, list) {
        static_assert(std::is_trivially_copyable_v<Arguments> && sizeof(Arguments) <= max_argument_bytes);
        std::memcpy(arguments.data(), &args, sizeof(Arguments));
    }

    Task& at(std::int32_t task_step, std::int32_t task_priority) {
        step = task_step;
        priority = task_priority;
        return *this;
    }
    Task& on(NodeId where) {
        node = where.number();
        placement = Placement::named;
        return *this;
    }
    Task& critical() {
        urgency = Urgency::critical;
        return *this;
    }
    Task& needs(const LimitedResource& limited) {
        resource = &limited;
        return *this;
    }
    [[nodiscard]] std::span<const Access> used() const {
        return {accesses.data(), static_cast<std::size_t>(access_count)};
    }
    [[nodiscard]] std::span<Access> used() { return {accesses.data(), static_cast<std::size_t>(access_count)}; }
};

}  // namespace tesela
