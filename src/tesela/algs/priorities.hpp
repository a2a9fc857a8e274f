#pragma once

#include "tesela/base/index.hpp"

#include <cstdint>

namespace tesela {

/// Whether tasks carry the priorities of the critical path, or none at all.
enum class Priorities : std::uint8_t { critical_path, none };

/// The priorities of paper 000, equation (2), for nb tile rows: the length of the path to the end with unit costs,
/// written for a task that writes tile (i, j) in step k. All are doubled, since generation has a half; the solve's
/// product counts i from k (the paper's −i would invert the order for k ≥ 2).
class PriorityRule {
public:
    PriorityRule(Priorities mode, Index nb) : scale_(mode == Priorities::none ? 0 : 1), nb_(nb) {}

    [[nodiscard]] std::int32_t generate(TileIndex t) const { return value(6 * nb_ - (t.i + t.j)); }
    [[nodiscard]] std::int32_t potrf(Index k) const { return value(6 * (nb_ - k)); }
    [[nodiscard]] std::int32_t trsm(Index i, Index k) const { return value(6 * (nb_ - k) - 2 * (i - k)); }
    [[nodiscard]] std::int32_t syrk(Index j, Index k) const { return value(6 * (nb_ - k) - 4 * (j - k)); }
    [[nodiscard]] std::int32_t gemm(TileIndex t, Index k) const {
        return value(6 * (nb_ - k) - 2 * (t.j - k) - 2 * (t.i - k));
    }
    [[nodiscard]] std::int32_t solve_trsm(Index k) const { return value(4 * (nb_ - k)); }
    [[nodiscard]] std::int32_t solve_gemm(Index i, Index k) const { return value(4 * (nb_ - k) - 2 * (i - k)); }
    /// Determinant and dot product: leaves of the graph.
    [[nodiscard]] static std::int32_t leaf() { return 0; }

private:
    [[nodiscard]] std::int32_t value(Index priority) const { return static_cast<std::int32_t>(scale_ * priority); }
    Index scale_;
    Index nb_;
};

}  // namespace tesela
