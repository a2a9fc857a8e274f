#include "tesela/io/matrix_file.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/internal/stored_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <thread>

namespace tesela {
namespace {

/// Whether rows * cols elements of so many bytes have a number of bytes that an Index holds.
bool addressable(Index rows, Index cols, Index bytes) {
    constexpr Index most = std::numeric_limits<Index>::max();
    return rows <= most / bytes / cols;
}

std::string described(const MatrixBlock& block) {
    return fmt::format("rows {} to {} and columns {} to {}", block.row, block.row + block.rows, block.col,
                       block.col + block.cols);
}

bool inside(const MatrixBlock& block, Index rows, Index cols) {
    return block.row >= 0 && block.col >= 0 && block.rows >= 0 && block.cols >= 0 && block.row <= rows &&
           block.col <= cols && block.rows <= rows - block.row && block.cols <= cols - block.col;
}

}  // namespace

Index stored_type_bytes(StoredType type) {
    switch (type) {
        case StoredType::int8:
        case StoredType::uint8: return 1;
        case StoredType::int16:
        case StoredType::uint16: return 2;
        case StoredType::float32:
        case StoredType::int32:
        case StoredType::uint32: return 4;
        case StoredType::float64:
        case StoredType::int64:
        case StoredType::uint64: return 8;
    }
    return 8;
}

MatrixFile::MatrixFile(MatrixHeader header) : header_(std::move(header)) {
    if (header_.rows <= 0 || header_.cols <= 0)
        throw Error("{} has no elements: it is {} x {}", header_.name, header_.rows, header_.cols);
    if (!addressable(header_.rows, header_.cols, stored_type_bytes(header_.type)))
        throw Error("{} is too large: {} x {} elements", header_.name, header_.rows, header_.cols);
    if (header_.chunk.count() == 0) header_.chunk = {1, header_.cols};
}

std::string MatrixFile::description() const {
    return fmt::format("{}, {} x {} {}{}{}", name(), rows(), cols(), name_in(stored_type_names, type()),
                       header_.layout.empty() ? "" : ", ", header_.layout);
}

Index MatrixFile::panel_rows(Index wanted) const {
    const Index most = std::clamp<Index>(wanted, 1, rows());
    const Index chunk = std::min(header_.chunk.rows, rows());
    return most >= chunk ? most - most % chunk : most;
}

ReadOutcome MatrixFile::read(const MatrixBlock& block, ColumnMajor<float> to) const noexcept {
    return read_checked(block, to);
}

ReadOutcome MatrixFile::read(const MatrixBlock& block, ColumnMajor<double> to) const noexcept {
    return read_checked(block, to);
}

ReadOutcome MatrixFile::read(const MatrixBlock& block, RowMajor<float> to) const noexcept {
    return read_checked(block, to);
}

ReadOutcome MatrixFile::read(const MatrixBlock& block, RowMajor<double> to) const noexcept {
    return read_checked(block, to);
}

ReadOutcome MatrixFile::read_checked(const MatrixBlock& block, const Target& to) const noexcept {
    try {
        if (!inside(block, rows(), cols()))
            return ReadOutcome::failure(fmt::format("{} are not inside of {}", described(block), description()));
        if (block.rows == 0 || block.cols == 0) return {};
        const Index leading = leading_of(to);
        const bool by_rows = to.index() >= 2;
        const Index length = by_rows ? block.cols : block.rows;
        if (leading < length)
            return ReadOutcome::failure(fmt::format("{}: {} {} do not fit a leading dimension of {}", name(), length,
                                                    by_rows ? "columns" : "rows", leading));
        return read_block(block, to);
    } catch (...) {
        return ReadOutcome::failure("out of memory");  // short enough to need none
    }
}

/// Lets the bytes of its readers pass one after the other at a given rate: who reads waits until the moment at which
/// the bytes of all before it, and its own, would have passed.
class LimitedMatrix final : public MatrixFile {
public:
    LimitedMatrix(std::unique_ptr<MatrixFile> matrix, double bytes_per_second)
        : MatrixFile(matrix->header()),
          matrix_(std::move(matrix)),
          bytes_per_second_(bytes_per_second) {}

    void forget_cached() const override { matrix_->forget_cached(); }

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] ReadOutcome read_block(const MatrixBlock& block, const Target& to) const override {
        const Clock::time_point end = reserve(block.rows * block.cols * stored_type_bytes(type()));
        ReadOutcome outcome = matrix_->read_block(block, to);
        std::this_thread::sleep_until(end);
        return outcome;
    }

    [[nodiscard]] Clock::time_point reserve(Index bytes) const {
        const std::chrono::duration<double> needed(static_cast<double>(bytes) / bytes_per_second_);
        const std::lock_guard lock(mutex_);
        free_from_ = std::max(free_from_, Clock::now()) + std::chrono::duration_cast<Clock::duration>(needed);
        return free_from_;
    }

    std::unique_ptr<MatrixFile> matrix_;
    double bytes_per_second_;
    mutable std::mutex mutex_;
    mutable Clock::time_point free_from_{};
};

std::unique_ptr<MatrixFile> limit_rate(std::unique_ptr<MatrixFile> matrix, double bytes_per_second) {
    if (!(bytes_per_second > 0)) throw Error("a rate of {} bytes per second lets nothing pass", bytes_per_second);
    return std::make_unique<LimitedMatrix>(std::move(matrix), bytes_per_second);
}

}  // namespace tesela
