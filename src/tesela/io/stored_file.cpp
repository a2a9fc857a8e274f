#include "tesela/io/internal/stored_file.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/large_array.hpp"
#include "tesela/io/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tesela {
namespace {

[[noreturn]] void fail(const std::string& path, int reason) {
    throw Error("cannot read {}: {}", in_quotes(path), std::strerror(reason));
}

/// What is read before it is transposed: enough rows to fill lines of the target, few enough bytes to stay in a cache,
/// and whole rows as long as they are not very long, so that the file is read in order and the system reads ahead.
constexpr Index piece_bytes = Index{1} << 22U;
constexpr Index least_piece_rows = 32;

struct PieceSize {
    Index rows = 0;
    Index cols = 0;
};

PieceSize piece_size(const MatrixBlock& block, Index bytes) {
    const Index cols = std::min(block.cols, piece_bytes / least_piece_rows / bytes);
    const Index rows = std::max(least_piece_rows, piece_bytes / bytes / cols);
    return {std::min(rows, block.rows), cols};
}

/// Rows that follow each other without a gap, in the file and in memory, are one read; `leading` elements of memory are
/// from one to the next.
ReadOutcome read_piece(const StoredFile& file, const StoredRows& stored, const MatrixBlock& piece, std::byte* to,
                       Index leading) {
    const Index bytes = stored_type_bytes(stored.elements.type);
    const Index first = stored.offset + (piece.row * stored.cols + piece.col) * bytes;
    const Index row_bytes = piece.cols * bytes;
    if (piece.cols == stored.cols && piece.cols == leading) return file.read(first, to, piece.rows * row_bytes);
    for (Index i = 0; i < piece.rows; ++i) {
        ReadOutcome outcome = file.read(first + i * stored.cols * bytes, to + i * leading * bytes, row_bytes);
        if (!outcome) return outcome;
    }
    return {};
}

}  // namespace

StoredFile::StoredFile(std::string path) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(path_, errno);
    struct stat status {};
    const int reason = ::fstat(descriptor_, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
    if (reason != 0 || !S_ISREG(status.st_mode)) {
        ::close(descriptor_);
        if (reason != 0) fail(path_, reason);
        throw Error("cannot read {}: not a regular file, so no place in it can be gone to", in_quotes(path_));
    }
    size_ = status.st_size;
}

StoredFile::~StoredFile() { ::close(descriptor_); }

ReadOutcome StoredFile::read(Index offset, std::byte* to, Index count) const {
    while (count > 0) {
        const ssize_t got = ::pread(descriptor_, to, static_cast<std::size_t>(count), offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return ReadOutcome::failure(
                fmt::format("cannot read {} at byte {}: {}", in_quotes(path_), offset, std::strerror(errno)));
        if (got == 0)
            return ReadOutcome::failure(fmt::format(
                "{} ends at byte {}, before its elements do: was it written to meanwhile?", in_quotes(path_), offset));
        offset += got;
        to += got;
        count -= got;
    }
    return {};
}

void StoredFile::forget_cached() const noexcept {
    ::fdatasync(descriptor_);  // what is not written yet cannot be forgotten
    ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
}

ReadOutcome read_rows(const StoredFile& file, const StoredRows& stored, const MatrixBlock& block,
                      const MatrixTarget& to) {
    if (std::byte* const rows = row_as_stored(to, stored.elements, 0))
        return read_piece(file, stored, block, rows, leading_of(to));
    const Index bytes = stored_type_bytes(stored.elements.type);
    const PieceSize most = piece_size(block, bytes);
    std::byte* const memory = scratch(most.rows * most.cols * bytes);
    for (Index i = 0; i < block.rows; i += most.rows)
        for (Index j = 0; j < block.cols; j += most.cols) {
            const MatrixBlock piece{block.row + i, block.col + j, std::min(most.rows, block.rows - i),
                                    std::min(most.cols, block.cols - j)};
            ReadOutcome outcome = read_piece(file, stored, piece, memory, piece.cols);
            if (!outcome) return outcome;
            to_native_order(memory, piece.rows * piece.cols, stored.elements);
            copy_rows({.elements = memory,
                       .type = stored.elements.type,
                       .stride = piece.cols,
                       .rows = piece.rows,
                       .cols = piece.cols},
                      shifted(to, i, j));
        }
    return {};
}

std::byte* scratch(Index bytes) {
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    thread_local LargeArray<Line> memory;
    const auto lines = static_cast<std::size_t>(ceil_div(bytes, Index{sizeof(Line)}));
    if (memory.size() < lines) memory.resize(lines);
    return memory.front().bytes;
}

}  // namespace tesela
