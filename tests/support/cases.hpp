#pragma once

// One numerical case (size, tile, distribution, form of solve) run on any engine and compared with the oracle.

#include "support/lapack.hpp"
#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/lu.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/distribution/families.hpp"

#include <fmt/format.h>

#include <string>

namespace tesela::testing {

enum class Family { block_cyclic, random };

struct Case {
    Index n = 1;
    Index tile = 1;
    Family family = Family::block_cyclic;
    std::uint64_t seed = 0;
    SolveForm form = SolveForm::local;
    Priorities priorities = Priorities::critical_path;
    Index right_hand_sides = 1;
    Index diagonal_tile = 0;

    [[nodiscard]] std::string name() const {
        return fmt::format("n={} tile={} {} seed={} {} rhs={} diagonal_tile={}", n, tile,
                           family == Family::random ? "random" : "block-cyclic", seed,
                           form == SolveForm::local ? "local" : "classical", right_hand_sides, diagonal_tile);
    }
    [[nodiscard]] FactorOptions factor() const { return {.priorities = priorities, .diagonal_tile = diagonal_tile}; }
};

inline Distribution distribution_of(const Case& c, GridSize tiles, Index nodes) {
    return c.family == Family::random ? random_distribution(tiles, nodes, c.seed) : squarest_block_cyclic(tiles, nodes);
}

/// A right-hand side for the tiling of A, following its diagonal.
template <class T>
Matrix<T> right_hand_side(Stream& s, const Case& c, const Matrix<T>& A) {
    const Tiling tiling = A.tiling().with_columns(c.right_hand_sides, std::max<Index>(1, c.right_hand_sides / 2));
    Matrix<T> B(s, tiling, along_diagonal(A.distribution(), tiling.grid().cols), {.name = "B"});
    static const std::uint64_t seed = 7;
    generate(s, B.view(), {random_element, &seed});
    return B;
}

inline std::vector<double> right_hand_side_elements(const Case& c) {
    static const std::uint64_t seed = 7;
    return dense<double>({c.n, c.right_hand_sides}, {random_element, &seed});
}

/// The largest error of A·X − B relative to what rounding allows, with A given by its elements.
template <class T>
double residual(const Case& c, const Elements& a, const std::vector<T>& x) {
    const std::vector<double> wide(x.begin(), x.end());
    const auto product = reference_product<double>({c.n, c.right_hand_sides}, c.n, dense<double>({c.n, c.n}, a), wide);
    return largest_difference(product, right_hand_side_elements(c));
}

/// Differences from the oracle divided by their tolerance: at most 1 means right.
struct Errors {
    double factor = 0;
    double solution = 0;
    double inverse = 0;
    [[nodiscard]] double worst() const { return std::max({factor, solution, inverse}); }
};

template <class T>
Errors run_cholesky(Engine& engine, const Case& c) {
    Stream s(engine);
    const Tiling tiling = Tiling::square(c.n, c.tile);
    Matrix<T> A(s, tiling, distribution_of(c, tiling.grid(), engine.node_count()), {.stored = Stored::lower});
    generate(s, A.view(), {spd_element});
    Matrix<T> B = right_hand_side(s, c, A);
    cholesky(s, A, c.factor());
    solve_cholesky(s, A.view(), B.view(), {.form = c.form, .priorities = c.priorities});
    const std::vector<T> factor = gather(s, A.view());
    const std::vector<T> solution = gather(s, B.view());
    inverse(s, A.view());
    const std::vector<T> inverted = gather(s, A.view());
    Errors errors;
    if (!s.wait().ok()) return {1e300, 1e300, 1e300};

    std::vector<T> expected = dense<T>({c.n, c.n}, {spd_element});
    reference_cholesky(c.n, expected);
    errors.factor = largest_difference(factor, expected) / tolerance<T>(c.n);
    errors.solution = residual(c, {spd_element}, solution) / tolerance<T>(c.n);
    reference_inverse(c.n, expected);
    errors.inverse = largest_difference(inverted, expected) / tolerance<T>(c.n);
    return errors;
}

template <class T>
Errors run_lu(Engine& engine, const Case& c) {
    Stream s(engine);
    const Tiling tiling = Tiling::square(c.n, c.tile);
    Matrix<T> A(s, tiling, distribution_of(c, tiling.grid(), engine.node_count()));
    generate(s, A.view(), {dominant_element});
    Matrix<T> B = right_hand_side(s, c, A);
    lu(s, A, {.priorities = c.priorities});
    solve_lu(s, A.view(), B.view(), {.form = c.form, .priorities = c.priorities});
    const std::vector<T> factor = gather(s, A.view());
    const std::vector<T> solution = gather(s, B.view());
    if (!s.wait().ok()) return {1e300, 1e300, 0};
    std::vector<T> expected = dense<T>({c.n, c.n}, {dominant_element});
    if (!reference_lu(c.n, expected)) return {1e300, 1e300, 0};
    return {largest_difference(factor, expected) / tolerance<T>(c.n, 32),
            residual(c, {dominant_element}, solution) / tolerance<T>(c.n, 32), 0};
}

}  // namespace tesela::testing
