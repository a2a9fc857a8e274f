#include "tesela/calibration/internal/tile_supply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

namespace tesela::calibration {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t panel_tiles = 8;
constexpr std::size_t fewest_walked = 4;
/// Vectors of a call are this many columns apart; one tile has room for as many as a task may use.
constexpr std::size_t vector_columns = 8;
constexpr std::size_t columns_of_vectors = vector_columns * max_tiles;
/// T of the reflectors of a small tile is wider than it.
constexpr Index least_columns = 24;
constexpr double tiny = 1e-7;
/// lauum squares the diagonal: an error of 1e-12 doubles with each use of a tile and is still small after so many.
constexpr std::size_t uses_between_resets = 20;

/// "32768K" as Linux writes it; 0 where there is nothing to read.
std::size_t read_cache_size(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::size_t value = 0;
    char unit = 'B';
    if (!(in >> value)) return 0;
    in >> unit;
    return value << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

template <class T>
void fill_near_identity(T* data, Index n) {
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            data[i + j * n] = static_cast<T>(i == j ? 1 : tiny * static_cast<double>(1 + (3 * i + 7 * j) % 17));
}

}  // namespace

std::size_t last_cache_bytes() {
    constexpr std::size_t guess = std::size_t{64} << 20;
    std::size_t largest = 0;
    for (int index = 0; index < 5; ++index)
        largest =
            std::max(largest, read_cache_size(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index)));
    return largest > 0 ? largest : guess;
}

Index TileSupply::most_elements(Specimen::Origin origin, Index tile) {
    return tile * (origin == Specimen::Origin::vector ? Index{vector_columns} : std::max(tile, least_columns));
}

TileSupply::TileSupply(const Size& size)
    : tile_(size.tile),
      type_(size.type),
      tile_bytes_(static_cast<std::size_t>(most_elements(Specimen::Origin::memory, size.tile)) *
                  element_bytes(size.type)),
      walked_(std::max(fewest_walked, size.bytes / tile_bytes_)),
      at_(walked_) {  // as if all were used
    const std::size_t vector_bytes = static_cast<std::size_t>(tile_) * columns_of_vectors * element_bytes(type_);
    for (std::size_t n = 0; n < walked_ + panel_tiles + 2; ++n) {
        const std::size_t bytes = n == walked_ + panel_tiles + 1 ? std::max(tile_bytes_, vector_bytes) : tile_bytes_;
        const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
        memory_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
        if (!memory_.back()) throw std::bad_alloc();
        if (bytes > tile_bytes_) std::memset(memory_.back().get(), 0, rounded);
    }
    std::memset(tile_at(0), 0, tile_bytes_);
    reset();
}

/// All at first, then those that were used since: caches can be large, and most measurements use little of twice that.
void TileSupply::reset() {
    if (type_ == ElementType::f64)
        fill_near_identity(reinterpret_cast<double*>(tile_at(0)), tile_);
    else
        fill_near_identity(reinterpret_cast<float*>(tile_at(0)), tile_);
    const std::size_t used = std::min(at_ - reset_at_, walked_);
    for (std::size_t n = 0; n < used; ++n) copy_first_to((reset_at_ + n) % walked_);
    for (std::size_t n = walked_; n < walked_ + panel_tiles + 2; ++n) copy_first_to(n);
    reset_at_ = at_;
}

void TileSupply::copy_first_to(std::size_t number) {
    if (number > 0) std::memcpy(tile_at(number), tile_at(0), tile_bytes_);
}

std::byte* TileSupply::next_of(Specimen::Origin origin) {
    switch (origin) {
        case Specimen::Origin::memory: return tile_at(at_++ % walked_);
        case Specimen::Origin::panel: return tile_at(walked_ + panel_at_++ % panel_tiles);
        case Specimen::Origin::pivot: return tile_at(walked_ + panel_tiles);
        case Specimen::Origin::vector: break;
    }
    const std::size_t column = static_cast<std::size_t>(tile_) * element_bytes(type_);
    return tile_at(walked_ + panel_tiles + 1) + vector_columns * column * vector_at_++;
}

std::span<const Tile> TileSupply::next(const std::vector<Specimen::Operand>& operands) {
    if (at_ - reset_at_ >= uses_between_resets * walked_) reset();
    vector_at_ = 0;
    for (std::size_t n = 0; n < operands.size(); ++n) {
        const TileShape& shape = operands[n].shape;
        call_[n] = {.data = next_of(operands[n].origin), .shape = shape, .ld = shape.rows};
    }
    return {call_.data(), operands.size()};
}

}  // namespace tesela::calibration
