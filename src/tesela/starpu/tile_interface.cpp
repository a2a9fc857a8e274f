#include "tesela/starpu/internal/tile_interface.hpp"

#include "tesela/starpu/internal/tile_pool.hpp"
#include "tesela/starpu/internal/tracing.hpp"

#include <starpu_hash.h>
#include <starpu_mpi.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tesela::starpu {
namespace {

TileInterface& of(void* interface) { return *static_cast<TileInterface*>(interface); }

TileInterface& of(starpu_data_handle_t handle, unsigned node) {
    return of(starpu_data_get_interface_on_node(handle, node));
}

void* to_memory(uintptr_t pointer) {
    return reinterpret_cast<void*>(pointer);  // NOLINT(performance-no-int-to-ptr): StarPU's interface
}

bool in_pool(unsigned node) { return starpu_node_get_kind(node) == STARPU_CPU_RAM; }

/// A home of -1 is no node: an unsigned in StarPU 1.3, an int since 1.4.
template <class Home>
void register_data_handle(starpu_data_handle_t handle, Home home_node, void* interface) {
    for (unsigned node = 0; node < STARPU_MAXNODES; ++node) {
        TileInterface& local = of(handle, node);
        local = of(interface);
        if (node == static_cast<unsigned>(home_node)) continue;
        local.pointer = 0;
        local.ld = local.rows;
    }
}

/// Tokens have no bytes but occupy one, so that they have an address and a message.
std::size_t allocated_bytes(const TileInterface& tile) { return std::max<std::size_t>(1, tile.bytes()); }

starpu_ssize_t allocate_data_on_node(void* interface, unsigned node) {
    TileInterface& tile = of(interface);
    const std::size_t bytes = allocated_bytes(tile);
    tile.pointer =
        in_pool(node) ? reinterpret_cast<uintptr_t>(tile_pool().take(bytes)) : starpu_malloc_on_node(node, bytes);
    if (tile.pointer == 0) return -ENOMEM;
    note_memory(node, static_cast<std::int64_t>(bytes));
    tile.ld = tile.rows;
    return static_cast<starpu_ssize_t>(bytes);
}

void free_data_on_node(void* interface, unsigned node) {
    TileInterface& tile = of(interface);
    const std::size_t bytes = allocated_bytes(tile);
    if (in_pool(node))
        tile_pool().give(to_memory(tile.pointer), bytes);
    else
        starpu_free_on_node(node, tile.pointer, bytes);
    note_memory(node, -static_cast<std::int64_t>(bytes));
    tile.pointer = 0;
}

int copy_any_to_any(void* from_interface, unsigned from_node, void* to_interface, unsigned to_node, void* async) {
    const TileInterface& from = of(from_interface);
    const TileInterface& to = of(to_interface);
    const std::size_t column = static_cast<std::size_t>(from.rows) * from.element_bytes;
    if (from.ld == from.rows && to.ld == to.rows)
        return starpu_interface_copy(from.pointer, 0, from_node, to.pointer, 0, to_node, allocated_bytes(from), async);
    int result = 0;
    for (std::int64_t j = 0; j < from.cols; ++j) {
        const auto at = [&](const TileInterface& t) { return static_cast<std::size_t>(j * t.ld) * t.element_bytes; };
        if (starpu_interface_copy(from.pointer, at(from), from_node, to.pointer, at(to), to_node, column, async) != 0)
            result = -EAGAIN;
    }
    return result;
}

const starpu_data_copy_methods copy_methods{.any_to_any = copy_any_to_any};

size_t get_size(starpu_data_handle_t handle) { return allocated_bytes(of(handle, STARPU_MAIN_RAM)); }

uint32_t footprint(starpu_data_handle_t handle) {
    const TileInterface& tile = of(handle, STARPU_MAIN_RAM);
    const uint32_t rows = starpu_hash_crc32c_be(static_cast<uint32_t>(tile.rows), tile.element_bytes);
    return starpu_hash_crc32c_be(static_cast<uint32_t>(tile.cols), rows);
}

int compare(void* a, void* b) {
    return static_cast<int>(of(a).rows == of(b).rows && of(a).cols == of(b).cols &&
                            of(a).element_bytes == of(b).element_bytes);
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

/// Used only for a message that arrives before its receive is posted and, later, for compressed tiles.
int pack_data(starpu_data_handle_t handle, unsigned node, void** pointer, starpu_ssize_t* count) {
    const TileInterface& tile = of(handle, node);
    const std::size_t bytes = allocated_bytes(tile);
    *count = static_cast<starpu_ssize_t>(bytes);
    if (pointer == nullptr) return 0;
    *pointer = to_memory(starpu_malloc_on_node_flags(node, bytes, 0));
    const std::size_t column = static_cast<std::size_t>(tile.rows) * tile.element_bytes;
    for (std::int64_t j = 0; j < tile.cols && column > 0; ++j)
        std::memcpy(static_cast<char*>(*pointer) + static_cast<std::size_t>(j) * column,
                    static_cast<const char*>(to_memory(tile.pointer)) +
                        static_cast<std::size_t>(j * tile.ld) * tile.element_bytes,
                    column);
    return 0;
}

int unpack_data(starpu_data_handle_t handle, unsigned node, void* pointer, size_t count) {
    const TileInterface& tile = of(handle, node);
    const std::size_t column = static_cast<std::size_t>(tile.rows) * tile.element_bytes;
    for (std::int64_t j = 0; j < tile.cols && column > 0; ++j)
        std::memcpy(
            static_cast<char*>(to_memory(tile.pointer)) + static_cast<std::size_t>(j * tile.ld) * tile.element_bytes,
            static_cast<const char*>(pointer) + static_cast<std::size_t>(j) * column, column);
    starpu_free_on_node_flags(node, reinterpret_cast<uintptr_t>(pointer), count, 0);
    return 0;
}

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
    ops.pack_data = pack_data;
    ops.unpack_data = unpack_data;
    ops.interfaceid = static_cast<starpu_data_interface_id>(starpu_data_interface_get_next_id());
    ops.interface_size = sizeof(TileInterface);
    ops.name = interface_name;
    return ops;
}

starpu_data_interface_ops& operations() {
    static starpu_data_interface_ops ops = make_operations();
    return ops;
}

TileInterface describe_tile(const Attachment& matrix, TileIndex tile) {
    const TileShape shape = matrix.shape(tile);
    return {.id = operations().interfaceid,
            .pointer = 0,
            .rows = shape.rows,
            .cols = shape.cols,
            .ld = shape.rows,
            .element_bytes = static_cast<std::uint32_t>(element_bytes(matrix.type()))};
}

int make_datatype(starpu_data_handle_t handle, MPI_Datatype* type) {
    const TileInterface& tile = of(handle, STARPU_MAIN_RAM);
    const MPI_Datatype element = tile.element_bytes == 8 ? MPI_DOUBLE : tile.element_bytes == 4 ? MPI_FLOAT : MPI_BYTE;
    const auto rows = static_cast<int>(tile.rows);
    const auto cols = static_cast<int>(tile.cols);
    if (tile.ld == tile.rows)
        MPI_Type_contiguous(rows * cols, element, type);
    else
        MPI_Type_vector(cols, rows, static_cast<int>(tile.ld), element, type);
    MPI_Type_commit(type);
    return 0;
}

void free_datatype(MPI_Datatype* type) { MPI_Type_free(type); }

}  // namespace

starpu_data_handle_t register_tile(const Attachment& matrix, TileIndex tile) {
    TileInterface interface = describe_tile(matrix, tile);
    starpu_data_handle_t handle = nullptr;
    starpu_data_register(&handle, -1, &interface, &operations());
    return handle;
}

starpu_data_handle_t register_tile(const Attachment& matrix, TileIndex tile, const TileMemory& memory) {
    TileInterface interface = describe_tile(matrix, tile);
    interface.pointer = reinterpret_cast<uintptr_t>(memory.data);
    interface.ld = memory.ld;
    starpu_data_handle_t handle = nullptr;
    starpu_data_register(&handle, STARPU_MAIN_RAM, &interface, &operations());
    return handle;
}

void register_tile_datatype() {
    starpu_mpi_interface_datatype_register(operations().interfaceid, make_datatype, free_datatype);
}

void unregister_tile_datatype() { starpu_mpi_interface_datatype_unregister(operations().interfaceid); }

}  // namespace tesela::starpu
