#include "tesela/starpu/internal/tile_interface.hpp"

#include "tesela/net/nodes.hpp"
#include "tesela/starpu/internal/attachment.hpp"
#include "tesela/starpu/internal/shared.hpp"
#include "tesela/starpu/internal/tracing.hpp"

#include <fmt/format.h>
#include <starpu_hash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace tesela::starpu {
namespace {

TileInterface& of(void* interface) { return *static_cast<TileInterface*>(interface); }

TileInterface& of(starpu_data_handle_t handle, unsigned node) {
    return of(starpu_data_get_interface_on_node(handle, node));
}

void* to_memory(uintptr_t pointer) {
    return reinterpret_cast<void*>(pointer);  // NOLINT(performance-no-int-to-ptr): StarPU's interface
}

bool is_main_memory(unsigned node) { return starpu_node_get_kind(node) == STARPU_CPU_RAM; }

/// A home of -1 is no node: an unsigned in StarPU 1.3, an int since 1.4.
template <class Home>
void register_data_handle(starpu_data_handle_t handle, Home home_node, void* interface) {
    for (unsigned node = 0; node < STARPU_MAXNODES; ++node) {
        TileInterface& local = of(handle, node);
        local = of(interface);
        if (node == static_cast<unsigned>(home_node)) continue;
        local.pointer = 0;
        local.ld = local.rows;
        if (local.compressible) local.ranks = {0, 0};
    }
}

/// Main memory is taken later: see give_memory and install.
starpu_ssize_t allocate_data_on_node(void* interface, unsigned node) {
    TileInterface& tile = of(interface);
    const auto bytes = static_cast<starpu_ssize_t>(tile.allocated_bytes());
    tile.ld = tile.rows;
    tile.pointer = 0;
    if (tile.compressible) tile.ranks = {0, 0};
    if (is_main_memory(node)) return bytes;
    tile.pointer = starpu_malloc_on_node(node, tile.allocated_bytes());
    if (tile.pointer == 0) return -ENOMEM;
    note_memory(*tile.shared, node, bytes);
    return bytes;
}

void free_data_on_node(void* interface, unsigned node) {
    TileInterface& tile = of(interface);
    const std::size_t bytes = tile.allocated_bytes();
    if (is_main_memory(node)) return free_memory(tile);
    starpu_free_on_node(node, tile.pointer, bytes);
    note_memory(*tile.shared, node, -static_cast<std::int64_t>(bytes));
    tile.pointer = 0;
}

int copy_any_to_any(void* from_interface, unsigned from_node, void* to_interface, unsigned to_node, void* async) {
    const TileInterface& from = of(from_interface);
    const TileInterface& to = of(to_interface);
    const std::size_t column = static_cast<std::size_t>(from.rows) * from.element_bytes;
    if (from.ld == from.rows && to.ld == to.rows)
        return starpu_interface_copy(from.pointer, 0, from_node, to.pointer, 0, to_node, from.allocated_bytes(), async);
    int result = 0;
    for (std::int64_t j = 0; j < from.cols; ++j) {
        const auto at = [&](const TileInterface& t) { return static_cast<std::size_t>(j * t.ld) * t.element_bytes; };
        if (starpu_interface_copy(from.pointer, at(from), from_node, to.pointer, at(to), to_node, column, async) != 0)
            result = -EAGAIN;
    }
    return result;
}

const starpu_data_copy_methods copy_methods{.any_to_any = copy_any_to_any};

size_t get_size(starpu_data_handle_t handle) { return of(handle, STARPU_MAIN_RAM).allocated_bytes(); }

uint32_t footprint(starpu_data_handle_t handle) {
    const TileInterface& tile = of(handle, STARPU_MAIN_RAM);
    const uint32_t form = tile.element_bytes + (tile.compressible ? 1U : 0U);  // of any rank
    const uint32_t rows = starpu_hash_crc32c_be(static_cast<uint32_t>(tile.rows), form);
    return starpu_hash_crc32c_be(static_cast<uint32_t>(tile.cols), rows);
}

int compare(void* a, void* b) {
    return static_cast<int>(of(a).rows == of(b).rows && of(a).cols == of(b).cols &&
                            of(a).element_bytes == of(b).element_bytes && of(a).compressible == of(b).compressible);
}

void display(starpu_data_handle_t handle, FILE* file) {
    const TileInterface& tile = of(handle, STARPU_MAIN_RAM);
    std::fprintf(file, "%lld\t%lld\t", static_cast<long long>(tile.rows), static_cast<long long>(tile.cols));
}

starpu_ssize_t describe(void* interface, char* text, size_t size) {
    return std::snprintf(text, size, "T%lldx%lld", static_cast<long long>(of(interface).rows),
                         static_cast<long long>(of(interface).cols));
}

void* to_pointer(void* interface, unsigned) { return to_memory(of(interface).pointer); }

char interface_name[] = "TESELA_TILE";

starpu_data_interface_ops make_operations() {
    starpu_data_interface_ops ops{};
    ops.register_data_handle = register_data_handle;
    ops.allocate_data_on_node = allocate_data_on_node;
    ops.free_data_on_node = free_data_on_node;
    ops.copy_methods = &copy_methods;
    ops.get_size = get_size;
    ops.footprint = footprint;
    ops.compare = compare;
    ops.display = display;
    ops.describe = describe;
    ops.to_pointer = to_pointer;
    ops.interfaceid = static_cast<starpu_data_interface_id>(starpu_data_interface_get_next_id());
    ops.interface_size = sizeof(TileInterface);
    ops.name = interface_name;
    return ops;
}

starpu_data_interface_ops& operations() {
    static starpu_data_interface_ops ops = make_operations();
    return ops;
}

TileInterface describe_tile(const StarpuAttachment& matrix, TileIndex tile) {
    const TileShape shape = matrix.shape(tile);
    TileInterface interface {
        .id = operations().interfaceid, .shared = &matrix.shared(), .pointer = 0, .rows = shape.rows,
        .cols = shape.cols, .ld = shape.rows, .element_bytes = static_cast<std::uint32_t>(element_bytes(matrix.type())),
        .claim = Claim::needed, .lost = false, .compressible = matrix.compressible(tile), .uncomputed_in = 0,
        .ranks = {matrix.compressible(tile) ? 0 : static_cast<std::int32_t>(dense_rank), 0}, .accuracy = 0,
        .precision = FactorPrecision::full
    };
    set_compression(interface, matrix);
    return interface;
}

/// The ranks behind the elements of a compressible tile: a message needs no more to be understood.
void write_ranks(void* memory, std::size_t bytes, const Ranks& ranks) {
    std::memcpy(static_cast<char*>(memory) + bytes - sizeof ranks, &ranks, sizeof ranks);
}
Ranks read_ranks(const ArrivedValue& value) {
    Ranks ranks;
    std::memcpy(&ranks, static_cast<const char*>(value.memory) + value.bytes - sizeof ranks, sizeof ranks);
    return ranks;
}

void copy_columns(const void* from, const TileInterface& to) {
    const std::size_t column = static_cast<std::size_t>(to.rows) * to.element_bytes;
    for (std::int64_t j = 0; j < to.cols && column > 0; ++j)
        std::memcpy(static_cast<char*>(to_memory(to.pointer)) + static_cast<std::size_t>(j * to.ld) * to.element_bytes,
                    static_cast<const char*>(from) + static_cast<std::size_t>(j) * column, column);
}

}  // namespace

starpu_data_handle_t register_tile(const StarpuAttachment& matrix, TileIndex tile, Claim claim) {
    TileInterface interface = describe_tile(matrix, tile);
    interface.claim = claim;
    starpu_data_handle_t handle = nullptr;
    starpu_data_register(&handle, -1, &interface, &operations());
    return handle;
}

starpu_data_handle_t register_tile(const StarpuAttachment& matrix, TileIndex tile, const TileMemory& memory) {
    TileInterface interface = describe_tile(matrix, tile);
    interface.pointer = reinterpret_cast<uintptr_t>(memory.data);
    interface.ld = memory.ld;
    starpu_data_handle_t handle = nullptr;
    starpu_data_register(&handle, STARPU_MAIN_RAM, &interface, &operations());
    return handle;
}

void acquire(starpu_data_handle_t handle, starpu_data_access_mode mode, void (*ready)(void*), void* argument) {
    const int code = starpu_data_acquire_on_node_cb(handle, STARPU_MAIN_RAM, mode, ready, argument);
    if (code != 0) net::end_job(fmt::format("StarPU does not give out a tile: {}", std::strerror(-code)));
}

TileInterface& in_main_memory(starpu_data_handle_t handle) { return of(handle, STARPU_MAIN_RAM); }

bool give_memory(TileInterface& tile, Contents contents) {
    // Readers of a tile that a failed stream never wrote may come here at the same time. Who shares a lock by chance,
    // also of another engine, only waits.
    static std::array<std::mutex, 64> mutexes;
    const std::atomic_ref<uintptr_t> pointer(tile.pointer);
    if (pointer.load(std::memory_order_acquire) != 0) return true;
    const std::lock_guard lock(mutexes[reinterpret_cast<uintptr_t>(&tile) / sizeof(TileInterface) % mutexes.size()]);
    if (tile.pointer != 0) return true;
    if (tile.lost && contents == Contents::zeros) return false;
    void* memory = tile.shared->memory.take(tile.allocated_bytes(), tile.claim);
    if (memory == nullptr) return false;
    tile.claim = Claim::needed;  // what was held back has been used
    tile.lost = false;
    if (contents == Contents::zeros || tile.compressible) std::memset(memory, 0, tile.allocated_bytes());
    pointer.store(reinterpret_cast<uintptr_t>(memory), std::memory_order_release);
    note_memory(*tile.shared, STARPU_MAIN_RAM, static_cast<std::int64_t>(tile.allocated_bytes()));
    return true;
}

void free_memory(TileInterface& tile) {
    const std::size_t bytes = tile.allocated_bytes();
    if (tile.pointer != 0) {
        give_back(tile, to_memory(tile.pointer), bytes);
        note_memory(*tile.shared, STARPU_MAIN_RAM, -static_cast<std::int64_t>(bytes));
    } else if (tile.claim == Claim::held_back) {
        tile.shared->memory.release_held_back(bytes);
    }
    tile.pointer = 0;
    if (tile.compressible) tile.ranks = {0, 0};
    tile.claim = Claim::needed;
    tile.lost = false;
}

void give_back(const TileInterface& tile, void* memory, std::size_t bytes) {
    tile.shared->memory.give(memory, bytes, tile.compressible ? Reuse::unlikely : Reuse::likely);
}

void* InterfaceRoom::replace(Index rank, Index singles) noexcept {
    TileInterface& tile = *tile_;
    const Ranks ranks{static_cast<std::int32_t>(rank), static_cast<std::int32_t>(singles)};
    const std::size_t before = tile.bytes();
    const std::size_t bytes = tile.bytes_with(ranks);
    if (bytes != before) {
        void* memory = tile.shared->memory.take(bytes, Claim::needed);
        if (memory == nullptr) return nullptr;
        give_back(tile, to_memory(tile.pointer), before);
        tile.pointer = reinterpret_cast<uintptr_t>(memory);
        note_memory(*tile.shared, STARPU_MAIN_RAM,
                    static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(before));
    }
    tile.ranks = ranks;
    write_ranks(to_memory(tile.pointer), bytes, ranks);
    return to_memory(tile.pointer);
}

void install(TileInterface& tile, const ArrivedValue& value, Home home) {
    if (home == Home::callers) {
        copy_columns(value.memory, tile);
        tile.shared->memory.give(value.memory, value.bytes);
        return;
    }
    const std::size_t bytes = tile.allocated_bytes();
    note_memory(*tile.shared, STARPU_MAIN_RAM,
                static_cast<std::int64_t>(value.bytes) - (tile.pointer != 0 ? static_cast<std::int64_t>(bytes) : 0));
    if (tile.pointer != 0) give_back(tile, to_memory(tile.pointer), bytes);
    if (tile.claim == Claim::held_back && tile.pointer == 0) tile.shared->memory.release_held_back(bytes);
    tile.claim = Claim::needed;
    tile.lost = false;
    tile.pointer = reinterpret_cast<uintptr_t>(value.memory);
    if (tile.compressible) tile.ranks = read_ranks(value);
}

void set_compression(TileInterface& tile, const Attachment& matrix) {
    const auto& compression = matrix.compression();
    if (!compression) return;
    tile.accuracy = compression->accuracy;
    tile.precision = compression->precision;
}

}  // namespace tesela::starpu
