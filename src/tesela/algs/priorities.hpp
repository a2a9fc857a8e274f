#pragma once

#include "tesela/base/index.hpp"

#include <cstdint>

namespace tesela {

/// Whether tasks carry the priorities of the critical path, none at all, or those that Chameleon gives the tasks of
/// Cholesky and nothing else (what paper 000 begins with).
enum class Priorities : std::uint8_t { critical_path, none, chameleon };

/// The priorities of paper 000, equation (2), for nb tile rows: the length of the path to the end with unit costs,
/// written for a task that writes tile (i, j) in step k. All are doubled, since generation has a half; the solve's
/// product counts i from k (the paper's −i would invert the order for k ≥ 2). Chameleon's are 2nb − 2k, less i for
/// trsm, j for syrk and i + j for gemm: 0, which generation and solve have, is in the midst of them.
class PriorityRule {
public:
    PriorityRule(Priorities mode, Index nb) : mode_(mode), nb_(nb) {}

    [[nodiscard]] std::int32_t generate(TileIndex t) const { return value(6 * nb_ - (t.i + t.j)); }
    [[nodiscard]] std::int32_t potrf(Index k) const { return value(6 * (nb_ - k), 2 * (nb_ - k)); }
    [[nodiscard]] std::int32_t trsm(Index i, Index k) const {
        return value(6 * (nb_ - k) - 2 * (i - k), 2 * (nb_ - k) - i);
    }
    [[nodiscard]] std::int32_t syrk(Index j, Index k) const {
        return value(6 * (nb_ - k) - 4 * (j - k), 2 * (nb_ - k) - j);
    }
    [[nodiscard]] std::int32_t gemm(TileIndex t, Index k) const {
        return value(6 * (nb_ - k) - 2 * (t.j - k) - 2 * (t.i - k), 2 * (nb_ - k) - t.i - t.j);
    }
    [[nodiscard]] std::int32_t solve_trsm(Index k) const { return value(4 * (nb_ - k)); }
    [[nodiscard]] std::int32_t solve_gemm(Index i, Index k) const { return value(4 * (nb_ - k) - 2 * (i - k)); }
    /// Determinant and dot product: leaves of the graph.
    [[nodiscard]] static std::int32_t leaf() { return 0; }

private:
    [[nodiscard]] std::int32_t value(Index of_critical_path, Index of_chameleon = 0) const {
        if (mode_ == Priorities::none) return 0;
        return static_cast<std::int32_t>(mode_ == Priorities::chameleon ? of_chameleon : of_critical_path);
    }
    Priorities mode_;
    Index nb_;
};

/// The priorities of QR of so many panels, likewise the length of the path to the end with unit costs, doubled: a
/// panel's block, the tile added to it and the update of the next panel with that are three tasks. `depth` is how many
/// tiles or triangles came before in the reduction of panel k, `j` the column of tiles that is updated. Chameleon's are
/// none.
class QrPriorities {
public:
    QrPriorities(Priorities mode, Index panels) : mode_(mode), panels_(panels) {}

    [[nodiscard]] std::int32_t panel(Index k, Index depth) const { return value(6 * (panels_ - k) - 2 * depth); }
    [[nodiscard]] std::int32_t update(Index k, Index j, Index depth) const {
        return value(6 * (panels_ - k) - 2 * (j - k) - 2 * depth);
    }

private:
    [[nodiscard]] std::int32_t value(Index of_critical_path) const {
        return mode_ == Priorities::critical_path ? static_cast<std::int32_t>(of_critical_path) : 0;
    }
    Priorities mode_;
    Index panels_;
};

}  // namespace tesela
