#include "paper004/switched_cholesky.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/algs/tile_in_parts.hpp"

#include <optional>

namespace tesela::bench {
namespace {

using tasks::step;

/// One panel and the update with it. What says that the next diagonal tile has its update is a token, without data.
class Panel {
public:
    Panel(Stream& s, const MatrixView<double>& A, Index k, const SwitchedFactor& options)
        : s_(s),
          A_(A),
          k_(k),
          nt_(A.tile_rows()),
          first_waiting_(k + 1 + options.lookahead),
          rule_(options.priorities, nt_) {
        if (first_waiting_ < nt_) updated_.emplace(s, A(k + 1, k + 1).owner(), "updated");
    }

    void factorise(Index diagonal_tile) {
        if (diagonal_tile > 0 && A_.rows(k_) > diagonal_tile)
            potrf_in_parts(s_, A_(k_, k_), {.rows = diagonal_tile, .step = step(k_), .priority = rule_.potrf(k_)});
        else
            s_.submit(tasks::potrf(A_(k_, k_)).at(step(k_), rule_.potrf(k_)).critical());
        s_.share_with_owners(A_(k_, k_), {A_.block({k_ + 1, k_}, {nt_, k_ + 1})}, rule_.trsm(k_ + 1, k_));
        for (Index i = k_ + 1; i < nt_; ++i) {
            if (updated_ && i == first_waiting_) update_next_diagonal();
            solve(i);
        }
        s_.retire(A_(k_, k_));
    }

    void update() {
        for (Index j = k_ + 1; j < nt_; ++j) {
            if (j > k_ + 1 || !updated_) s_.submit(update_of_diagonal(j));
            for (Index i = j + 1; i < nt_; ++i)
                s_.submit(tasks::gemm(-1, A_(i, k_), A_.transposed()(k_, j), 1, A_(i, j))
                              .at(step(k_), rule_.gemm({i, j}, k_)));
        }
        for (Index i = k_ + 1; i < nt_; ++i) s_.retire(A_(i, k_));
    }

private:
    [[nodiscard]] Task update_of_diagonal(Index j) const {
        return tasks::syrk(-1, A_(j, k_), 1, A_(j, j)).at(step(k_), rule_.syrk(j, k_));
    }
    void update_next_diagonal() {
        s_.submit(update_of_diagonal(k_ + 1).also(write(updated_->ref())));
        s_.share_with_owners(updated_->ref(), {A_.block({first_waiting_, k_}, {nt_, k_ + 1})}, rule_.trsm(k_ + 1, k_));
    }
    void solve(Index i) {
        constexpr TriangularArguments right_lower{.side = Side::right, .triangle = Triangle::lower};
        Task task = tasks::trsm(right_lower, A_.transposed()(k_, k_), A_(i, k_)).at(step(k_), rule_.trsm(i, k_));
        s_.submit(updated_ && i >= first_waiting_ ? task.also(read(updated_->ref())) : task);
        // Row i and column i of what is left are updated with it.
        s_.share_with_owners(A_(i, k_), {A_.block({i, k_ + 1}, {i + 1, i + 1}), A_.block({i, i}, {nt_, i + 1})},
                             rule_.gemm({i, k_ + 1}, k_));
    }

    Stream& s_;
    const MatrixView<double>& A_;
    Index k_, nt_, first_waiting_;
    PriorityRule rule_;
    std::optional<Token> updated_;
};

}  // namespace

void switched_cholesky(Stream& s, const MatrixView<double>& A, const SwitchedFactor& options) {
    if (options.lookahead == 0)
        return cholesky(s, A, {.priorities = options.priorities, .diagonal_tile = options.diagonal_tile});
    const auto phase = s.phase("cholesky");
    for (Index k = 0; k < A.tile_rows(); ++k) {
        Panel panel(s, A, k, options);
        panel.factorise(options.diagonal_tile);
        panel.update();
    }
}

void run_switched_cholesky(Stream& s, const Tiling& tiling, const Distribution& owners, const SwitchedFactor& options) {
    const Matrix<double> A(
        s, tiling, owners,
        {.name = operation_matrix, .stored = Stored::lower, .memory = [](TileIndex) { return TileMemory{}; }});
    switched_cholesky(s, A, options);
    require_done(s.wait());
}

}  // namespace tesela::bench
