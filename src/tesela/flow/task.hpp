#pragma once

#include "tesela/base/fields.hpp"
#include "tesela/flow/attachment.hpp"
#include "tesela/flow/resource.hpp"
#include "tesela/kernels/make_kernel.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

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

/// What a task does to one tile, and how it means it.
struct Access {
    TileRef tile{};
    AccessMode mode = AccessMode::read;
    TileView view{};

    /// As the kernel sees it, if it has all its elements.
    [[nodiscard]] TileShape shape() const { return tile.shape().seen(view.op); }
};

/// The same, and the type of its elements: `const T` where the task only reads. Made by `read`, `write` and the others
/// below.
template <class T>
struct AccessTo {
    Access access;
};

/// A tile of elements T, and how it is meant: transposed, or a triangle of it.
template <class T>
struct TileOf : TileRef {
    TileView view{};

    /// All of it, as it is stored: for kernels that are told of the rest by their arguments.
    [[nodiscard]] TileOf stored() const { return {*this, {}}; }
};

/// What a task does to a tile: see AccessMode.
template <class T>
[[nodiscard]] AccessTo<const T> read(const TileOf<T>& tile) {
    return {{tile, AccessMode::read, tile.view}};
}
template <class T>
[[nodiscard]] AccessTo<T> write(const TileOf<T>& tile) {
    return {{tile, AccessMode::write, tile.view}};
}
template <class T>
[[nodiscard]] AccessTo<T> read_write(const TileOf<T>& tile) {
    return {{tile, AccessMode::read_write, tile.view}};
}
template <class T>
[[nodiscard]] AccessTo<T> commute(const TileOf<T>& tile) {
    return {{tile, AccessMode::commute, tile.view}};
}
template <class T>
[[nodiscard]] AccessTo<T> reduce(const TileOf<T>& tile) {
    return {{tile, AccessMode::reduce, tile.view}};
}

/// Whether a kernel that works on elements E can have a tile of elements T: the same, read or written alike; `void`
/// takes any.
template <class E, class T>
inline constexpr bool fits_kernel = std::is_const_v<E> == std::is_const_v<T> &&
                                    (std::is_void_v<E> ||
                                     std::is_same_v<std::remove_const_t<E>, std::remove_const_t<T>>);

namespace detail {

template <class T>
inline constexpr bool is_access = false;
template <class T>
inline constexpr bool is_access<AccessTo<T>> = true;
template <class T>
inline constexpr bool is_tile = false;
template <class T>
inline constexpr bool is_tile<TileOf<T>> = true;

/// What a task is made of beside its kernel: arguments unless there are none, then accesses.
template <class Arguments, class... Given>
inline constexpr bool is_call = std::is_same_v<Arguments, NoArguments> && (is_access<Given> && ...);
template <class Arguments, class First, class... Rest>
inline constexpr bool is_call<Arguments, First, Rest...> = (std::is_convertible_v<First, Arguments> &&
                                                            (is_access<Rest> && ...)) ||
                                                           (std::is_same_v<Arguments, NoArguments> &&
                                                            is_access<First> && (is_access<Rest> && ...));

template <class Arguments, class... Given>
constexpr void explain_call() {
    constexpr bool tiles = (is_tile<Given> || ...);
    static_assert(!tiles, "say what the task does to each tile: read(A(i, j)), write(A(i, j)), read_write(A(i, j)) …");
    constexpr bool accesses = (is_access<Given> && ...);
    static_assert(
        tiles || !accesses,
        "the kernel's arguments are missing: they stand before its tiles, as in Task(kernel, {2.0}, read(x))");
    static_assert(tiles || accesses, "the kernel takes other arguments, and after them what is done to its tiles");
}

}  // namespace detail

/// Whether a task may use the worker that is kept for the critical path (paper 000, oversubscription).
enum class Urgency : std::uint8_t { ordinary, critical };

/// Whether a task runs where its first written tile lives, or on a node that the algorithm named.
enum class Placement : std::uint8_t { automatic, named };

/// Whether the stream has replaced a `reduce` of a task by something that depends on who owns what.
enum class Reductions : std::uint8_t { none, lowered };

/// A phase of a stream: a label for a part of the work. Numbered per stream; names are kept by the stream.
using PhaseId = std::int32_t;

/// One unit of work, as a plain value of fixed size: a kernel, its tiles, its arguments and hints for the scheduler.
/// It runs on the node that owns the first tile it writes, at that point of the stream, unless a node is named.
struct Task {
    static constexpr std::size_t max_accesses = max_tiles;

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
    Reductions reductions = Reductions::none;  ///< set by the stream
    /// A resource of which its node has few; looked at when the task is submitted.
    const LimitedResource* resource = nullptr;
    /// Adds what nodes compare of the arguments to a digest; null if there is nothing.
    void (*add_arguments)(Digest& digest, const void* arguments) = nullptr;
    alignas(16) std::array<std::byte, max_argument_bytes> arguments;

    // Accesses and arguments beyond those in use are left unset on purpose: a task is built once per submission.
    Task() {}  // NOLINT(modernize-use-equals-default): that would set them
    /// A kernel, its arguments, and what it does to its tiles, in its order. What does not fit does not compile.
    template <class Arguments, class... Elements, class... Given>
    Task(const KernelOf<Arguments, Elements...>& k, const std::type_identity_t<Arguments>& args,
         const AccessTo<Given>&... tiles) {
        check_tiles<KernelOf<Arguments, Elements...>, Given...>();
        begin(k, tiles.access...);
        set_arguments(args);
    }
    template <class... Elements, class... Given>
    explicit Task(const KernelOf<NoArguments, Elements...>& k, const AccessTo<Given>&... tiles) {
        check_tiles<KernelOf<NoArguments, Elements...>, Given...>();
        begin(k, tiles.access...);
    }
    /// What fits neither of these says why.
    template <class Arguments, class... Elements, class... Given>
    requires(!detail::is_call<Arguments, Given...>) explicit Task(const KernelOf<Arguments, Elements...>&,
                                                                  const Given&...) {
        detail::explain_call<Arguments, Given...>();
    }
    /// For who knows kernels and tiles only at run time, and answers for it that they fit. Throws Error for too many.
    [[nodiscard]] static Task unchecked(const Kernel& k, std::initializer_list<Access> list) {
        if (list.size() > max_accesses) throw_too_many(k, list.size());
        Task task;
        task.kernel = &kept_kernel(k);
        for (const Access& access : list) task.accesses[static_cast<std::size_t>(task.access_count++)] = access;
        return task;
    }
    template <class Arguments>
    [[nodiscard]] static Task unchecked(const Kernel& k, std::initializer_list<Access> list, const Arguments& args) {
        Task task = unchecked(k, list);
        task.set_arguments(args);
        return task;
    }

    template <class Arguments>
    void set_arguments(const Arguments& args) {
        static_assert(std::is_trivially_copyable_v<Arguments> && sizeof(Arguments) <= max_argument_bytes);
        std::memcpy(arguments.data(), &args, sizeof(Arguments));
        if constexpr (!std::is_empty_v<Arguments>) add_arguments = add_fields_at<Arguments>;
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
    /// A token beside the tiles that its kernel works on: what it reads must have happened before, what it writes says
    /// that it has run. Throws Error for too many.
    template <class Nothing>
    requires std::is_void_v<Nothing> Task& also(const AccessTo<Nothing>& token) {
        if (std::cmp_equal(access_count, max_accesses)) throw_too_many(*kernel, max_accesses + 1);
        accesses[static_cast<std::size_t>(access_count++)] = token.access;
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

private:
    template <class... Accesses>
    void begin(const Kernel& k, const Accesses&... list) {
        kernel = &kept_kernel(k);
        ((accesses[static_cast<std::size_t>(access_count++)] = list), ...);
    }
    [[noreturn]] static void throw_too_many(const Kernel& kernel, std::size_t count);

    template <class Arguments, class... Elements, class... Given>
    static constexpr bool tiles_fit(const KernelOf<Arguments, Elements...>*, const AccessTo<Given>*...) {
        return (fits_kernel<Elements, Given> && ...);
    }
    template <class Kernel, class... Given>
    static constexpr void check_tiles() {
        static_assert(Kernel::template takes<sizeof...(Given)>, "the kernel works on another number of tiles");
        if constexpr (Kernel::template takes<sizeof...(Given)>)
            static_assert(
                tiles_fit(static_cast<const Kernel*>(nullptr), static_cast<const AccessTo<Given>*>(nullptr)...),
                "a tile has elements of another type, or is read where the kernel writes, or the other way round");
    }
};

}  // namespace tesela
