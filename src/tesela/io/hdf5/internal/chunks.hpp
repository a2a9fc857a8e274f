#pragma once

#include "tesela/io/internal/stored_file.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace tesela {

/// A filter that was applied to chunks before they were stored.
struct ChunkFilter {
    enum class Kind { deflate, shuffle };
    Kind kind = Kind::deflate;
    Index width = 0;  ///< shuffle: bytes of an element
};

/// Where a chunk stands in the file; with an offset below 0 nowhere: all its elements are the fill value.
struct ChunkPlace {
    Index offset = -1;
    Index bytes = 0;
    unsigned skipped_filters = 0;  ///< bit k: filter k was not applied
};

/// The elements of a data set: chunks of equal size in a grid, of which those at the edges reach beyond the matrix.
struct ChunkedElements {
    StoredElements stored;
    std::array<std::byte, 8> fill{};  ///< one element in this machine's byte order
    GridSize size;                    ///< rows and columns of the matrix
    GridSize chunk;                   ///< of a chunk
    std::vector<ChunkFilter> filters;
    std::vector<ChunkPlace> places;  ///< row by row

    [[nodiscard]] GridSize grid() const { return {ceil_div(size.rows, chunk.rows), ceil_div(size.cols, chunk.cols)}; }
    [[nodiscard]] Index chunk_bytes() const { return chunk.count() * stored_type_bytes(stored.type); }
};

/// Throws Error if a chunk reaches beyond the end of the file, or one without filters has not its size.
void check_places(const ChunkedElements& elements, const StoredFile& file, const std::string& name);

/// Reads a block: only what it intersects of chunks without filters, all of others.
[[nodiscard]] ReadOutcome read_chunks(const StoredFile& file, const ChunkedElements& elements, const MatrixBlock& block,
                                      const MatrixTarget& to);

}  // namespace tesela
