#pragma once

#include "tesela/io/internal/stored_elements.hpp"
#include "tesela/io/matrix_file.hpp"

#include <cstddef>
#include <string>

namespace tesela {

/// A file of which several threads read bytes at once, at places that they name (pread).
class StoredFile {
public:
    /// Throws Error naming the path and the reason.
    explicit StoredFile(std::string path);
    ~StoredFile();
    StoredFile(const StoredFile&) = delete;
    StoredFile& operator=(const StoredFile&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] Index size() const { return size_; }
    [[nodiscard]] ReadOutcome read(Index offset, std::byte* to, Index count) const;
    void forget_cached() const noexcept;

private:
    std::string path_;
    int descriptor_ = -1;
    Index size_ = 0;
};

/// A row-major array of elements in a file: all of a data set, or one chunk of it.
struct StoredRows {
    Index offset = 0;  ///< of its first element, in bytes
    Index cols = 0;    ///< elements from one row to the next
    StoredElements elements;
};

/// Reads a block of such an array: straight into memory that takes rows as they are, otherwise in pieces that fit the
/// caches, each converted while it is there.
[[nodiscard]] ReadOutcome read_rows(const StoredFile& file, const StoredRows& stored, const MatrixBlock& block,
                                    const MatrixTarget& to);

/// Memory of this thread for what is read before it is converted, used again by the next read; aligned for any element.
[[nodiscard]] std::byte* scratch(Index bytes);

}  // namespace tesela
