#include "tesela/io/hdf5/internal/chunks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace tesela {
namespace {

/// Bytes that are not set to anything before they are written.
struct Bytes {
    explicit Bytes(Index count)
        : memory(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(count))) {}
    [[nodiscard]] std::byte* data() const { return memory.get(); }
    std::unique_ptr<std::byte[]> memory;
};

template <std::size_t Width>
void unshuffle(const std::byte* from, Index count, std::byte* to) {
    for (Index k = 0; k < count; ++k)
        for (std::size_t b = 0; b < Width; ++b)
            to[static_cast<std::size_t>(k) * Width + b] = from[static_cast<Index>(b) * count + k];
}

/// The bytes of an element stood apart, all first bytes before all second ones; what is left over was not moved.
void undo_shuffle(const std::byte* from, Index bytes, Index width, std::byte* to) {
    const Index count = bytes / width;
    if (width == 4) {
        unshuffle<4>(from, count, to);
    } else if (width == 8) {
        unshuffle<8>(from, count, to);
    } else {
        for (Index k = 0; k < count; ++k)
            for (Index b = 0; b < width; ++b) to[k * width + b] = from[b * count + k];
    }
    std::memcpy(to + count * width, from + count * width, static_cast<std::size_t>(bytes - count * width));
}

enum class Inflated { whole, broken };

Inflated undo_deflate(const std::byte* from, Index bytes, std::byte* to, Index wanted) {
    auto size = static_cast<uLongf>(wanted);
    const int status = ::uncompress(reinterpret_cast<Bytef*>(to), &size, reinterpret_cast<const Bytef*>(from),
                                    static_cast<uLong>(bytes));
    return status == Z_OK && size == static_cast<uLongf>(wanted) ? Inflated::whole : Inflated::broken;
}

/// The part of a chunk that a block intersects, in the chunk's rows and columns, and where it goes in the block.
struct Part {
    MatrixBlock in_chunk;
    Index row = 0;
    Index col = 0;
};

Part part_of(const ChunkedElements& elements, const MatrixBlock& block, Index i, Index j) {
    const Index top = i * elements.chunk.rows;
    const Index left = j * elements.chunk.cols;
    const Index row = std::max(block.row, top);
    const Index col = std::max(block.col, left);
    const Index bottom = std::min(block.row + block.rows, top + elements.chunk.rows);
    const Index right = std::min(block.col + block.cols, left + elements.chunk.cols);
    return {{row - top, col - left, bottom - row, right - col}, row - block.row, col - block.col};
}

bool is_filtered(const ChunkedElements& elements, const ChunkPlace& place) {
    for (std::size_t k = 0; k < elements.filters.size(); ++k)
        if ((place.skipped_filters >> k & 1U) == 0) return true;
    return false;
}

/// Undoes the filters of one chunk, the last first; the bytes end up in `memory`.
ReadOutcome undo_filters(const StoredFile& file, const ChunkedElements& elements, const ChunkPlace& place,
                         Bytes& memory) {
    const Index whole = elements.chunk_bytes();
    Bytes other(std::max(whole, place.bytes));
    ReadOutcome outcome = file.read(place.offset, memory.data(), place.bytes);
    if (!outcome) return outcome;
    Index bytes = place.bytes;
    for (std::size_t k = elements.filters.size(); k-- > 0;) {
        if ((place.skipped_filters >> k & 1U) != 0) continue;
        const ChunkFilter& filter = elements.filters[k];
        if (filter.kind == ChunkFilter::Kind::shuffle) {
            undo_shuffle(memory.data(), bytes, filter.width, other.data());
        } else if (undo_deflate(memory.data(), bytes, other.data(), whole) == Inflated::whole) {
            bytes = whole;
        } else {
            return ReadOutcome::failure(
                fmt::format("{}: the compressed chunk at byte {} is damaged", in_quotes(file.path()), place.offset));
        }
        std::swap(memory, other);
    }
    if (bytes == whole) return {};
    return ReadOutcome::failure(fmt::format("{}: the chunk at byte {} has {} bytes where {} belong",
                                            in_quotes(file.path()), place.offset, bytes, whole));
}

ReadOutcome read_filtered(const StoredFile& file, const ChunkedElements& elements, const ChunkPlace& place,
                          const MatrixBlock& part, const MatrixTarget& to) {
    Bytes memory(std::max(elements.chunk_bytes(), place.bytes));
    ReadOutcome outcome = undo_filters(file, elements, place, memory);
    if (!outcome) return outcome;
    const Index bytes = stored_type_bytes(elements.stored.type);
    std::byte* const first = memory.data() + (part.row * elements.chunk.cols + part.col) * bytes;
    for (Index i = 0; i < part.rows; ++i)
        to_native_order(first + i * elements.chunk.cols * bytes, part.cols, elements.stored);
    copy_rows({.elements = first,
               .type = elements.stored.type,
               .stride = elements.chunk.cols,
               .rows = part.rows,
               .cols = part.cols},
              to);
    return {};
}

ReadOutcome read_chunk(const StoredFile& file, const ChunkedElements& elements, const ChunkPlace& place,
                       const MatrixBlock& part, const MatrixTarget& to) {
    if (place.offset < 0) {
        fill_block(elements.fill.data(), elements.stored.type, {part.rows, part.cols}, to);
        return {};
    }
    if (is_filtered(elements, place)) return read_filtered(file, elements, place, part, to);
    return read_rows(file, {.offset = place.offset, .cols = elements.chunk.cols, .elements = elements.stored}, part,
                     to);
}

}  // namespace

void check_places(const ChunkedElements& elements, const StoredFile& file, const std::string& name) {
    for (const ChunkPlace& place : elements.places) {
        if (place.offset < 0) continue;
        if (place.bytes > file.size() || place.offset > file.size() - place.bytes)
            throw Error("{} is cut short: elements of {} reach to byte {}, the file to {}", in_quotes(file.path()),
                        name, static_cast<std::uint64_t>(place.offset) + static_cast<std::uint64_t>(place.bytes),
                        file.size());  // the sum may be beyond an Index
        if (!is_filtered(elements, place) && place.bytes != elements.chunk_bytes())
            throw Error("{}: a chunk has {} bytes where {} belong", name, place.bytes, elements.chunk_bytes());
    }
}

ReadOutcome read_chunks(const StoredFile& file, const ChunkedElements& elements, const MatrixBlock& block,
                        const MatrixTarget& to) {
    const Index last_i = (block.row + block.rows - 1) / elements.chunk.rows;
    const Index last_j = (block.col + block.cols - 1) / elements.chunk.cols;
    for (Index i = block.row / elements.chunk.rows; i <= last_i; ++i)
        for (Index j = block.col / elements.chunk.cols; j <= last_j; ++j) {
            const Part part = part_of(elements, block, i, j);
            const ChunkPlace& place = elements.places[static_cast<std::size_t>(i * elements.grid().cols + j)];
            ReadOutcome outcome = read_chunk(file, elements, place, part.in_chunk, shifted(to, part.row, part.col));
            if (!outcome) return outcome;
        }
    return {};
}

}  // namespace tesela
