#pragma once

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/algs/tile_in_parts.hpp"

#include <optional>

namespace tesela {

/// How the tasks of a factorisation are marked: those of a matrix by their step and the rule of priorities, those
/// within a tile all as the one task that they stand for.
class FactorMarks {
public:
    FactorMarks(Priorities mode, Index nt) : rule_(mode, nt) {}
    explicit FactorMarks(const TileInParts& tile) : rule_(Priorities::none, 0), tile_(tile) {}

    /// The row of the matrix at which what is factorised begins.
    [[nodiscard]] Index first_row() const { return tile_ ? tile_->first_row : 0; }

    // Of a task that is being made, which they give back.
    Task& potrf(Task&& task, Index k) const { return mark(task, k, rule_.potrf(k)).critical(); }
    Task& trsm(Task&& task, Index i, Index k) const { return mark(task, k, rule_.trsm(i, k)); }
    Task& syrk(Task&& task, Index j, Index k) const { return mark(task, k, rule_.syrk(j, k)); }
    Task& gemm(Task&& task, TileIndex t, Index k) const { return mark(task, k, rule_.gemm(t, k)); }
    /// Of messages to the solves with a diagonal tile, and to the products with a tile of the panel.
    [[nodiscard]] std::int32_t to_solves(Index k) const { return rule_.trsm(k + 1, k); }
    [[nodiscard]] std::int32_t to_products(Index i, Index k) const { return rule_.gemm({i, k + 1}, k); }
    /// The diagonal tile of step k as tiles with so many rows.
    [[nodiscard]] TileInParts in_parts(Index k, Index rows) const {
        return {.rows = rows, .first_row = first_row(), .step = tasks::step(k), .priority = rule_.potrf(k)};
    }

private:
    Task& mark(Task& task, Index k, std::int32_t priority) const {
        if (!tile_) return task.at(tasks::step(k), priority);
        return task.at(tile_->step, tile_->priority).critical();
    }
    PriorityRule rule_;
    std::optional<TileInParts> tile_;
};

/// A := L with A = L·Lᵀ, where diagonal tiles with more rows than `diagonal_tile` are factorised in parts, unless it
/// is 0.
template <class T>
void factorise(Stream& s, const MatrixView<T>& A, const FactorMarks& marks, Index diagonal_tile = 0);

}  // namespace tesela
