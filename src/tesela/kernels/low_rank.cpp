#include "tesela/kernels/internal/low_rank.hpp"

#include "tesela/base/random.hpp"
#include "tesela/kernels/internal/reflectors.hpp"
#include "tesela/kernels/internal/singular_values.hpp"
#include "tesela/kernels/loops.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace tesela::low_rank {
namespace {

using blas::Block;
using blas::leading;
using blas::length;
using lapack::SingularValues;

std::size_t count(Index m, Index n = 1) { return static_cast<std::size_t>(m) * static_cast<std::size_t>(n); }

template <class T>
double sum_of_squares(const T* x, Index n) {
    if constexpr (sizeof(T) == 8)
        return loops::functions().squares(x, count(n));
    else
        return loops::functions().squares_of_singles(x, count(n));
}

/// Errors below this are rounding: QR, singular values and products leave 1 to 14 times eps·norm of blocks up to
/// 512×512.
template <class T>
double rounding(double norm) {
    return 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * norm;
}

/// The least r with (Σ_{i≥r} σ_i²)^½ ≤ accuracy.
template <class T>
Index rank_for(const std::vector<T>& values, double accuracy) {
    double tail = 0;
    auto rank = static_cast<Index>(values.size());
    for (; rank > 0; --rank) {
        tail += std::pow(static_cast<double>(values[count(rank - 1)]), 2);
        if (std::sqrt(tail) > accuracy) break;
    }
    return rank;
}

/// The first `rank` columns of W·diag(values), with zeros below to `rows` rows.
template <class T>
std::vector<T> scaled_left(const SingularValues<T>& svd, Index rank, Index rows) {
    const auto from = static_cast<Index>(svd.w.size()) / svd.order;
    std::vector<T> out(count(rows, rank));
    for (Index k = 0; k < rank; ++k)
        for (Index i = 0; i < from; ++i)
            out[count(k, rows) + count(i)] = svd.w[count(k, from) + count(i)] * svd.values[count(k)];
    return out;
}

/// The first `rank` columns of Z, with zeros below to `rows` rows.
template <class T>
std::vector<T> right(const SingularValues<T>& svd, Index rank, Index rows) {
    const auto from = static_cast<Index>(svd.zt.size()) / svd.order;
    std::vector<T> out(count(rows, rank));
    for (Index i = 0; i < from; ++i)
        for (Index k = 0; k < rank; ++k) out[count(k, rows) + count(i)] = svd.zt[count(i, svd.order) + count(k)];
    return out;
}

/// (Σ_k ‖u_k‖²·‖v_k‖²)^½: what the terms' rounding goes with, also where they cancel each other.
template <class T>
double norm_of_terms(const Factors<T>& f) {
    double sum = 0;
    for (Index k = 0; k < f.rank; ++k)
        sum += sum_of_squares(&f.u[count(k, f.rows)], f.rows) * sum_of_squares(&f.v[count(k, f.cols)], f.cols);
    return std::sqrt(sum);
}

template <class T>
double norm(Block<const T> a) {
    double sum = 0;
    for (Index j = 0; j < a.cols; ++j) sum += sum_of_squares(&a(0, j), a.rows);
    return std::sqrt(sum);
}

template <class T>
std::vector<T> contiguous(Block<const T> a) {
    std::vector<T> out(count(a.rows, a.cols));
    for (Index j = 0; j < a.cols; ++j) std::copy_n(&a(0, j), a.rows, &out[count(j, a.rows)]);
    return out;
}

/// A = A·I, or I·A if that is smaller.
template <class T>
Factors<T> uncompressed(Block<const T> a) {
    Factors<T> f{a.rows, a.cols, std::min(a.rows, a.cols), {}, {}};
    const bool wide = a.rows < a.cols;
    auto& elements = wide ? f.v : f.u;
    auto& identity = wide ? f.u : f.v;
    elements.resize(count(a.rows, a.cols));
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i)
            elements[wide ? count(i, a.cols) + count(j) : count(j, a.rows) + count(i)] = a(i, j);
    identity.resize(count(f.rank, f.rank));
    for (Index k = 0; k < f.rank; ++k) identity[count(k, f.rank + 1)] = 1;
    return f;
}

/// By the singular values of the whole block.
template <class T>
Factors<T> truncated(Block<const T> a, double accuracy) {
    const auto svd = lapack::singular_values(contiguous(a), a.rows, a.cols);
    if (!svd) return uncompressed(a);
    Factors<T> f{a.rows, a.cols, rank_for(svd->values, accuracy), {}, {}};
    f.u = scaled_left(*svd, f.rank, f.rows);
    f.v = right(*svd, f.rank, f.cols);
    return f;
}

/// Random signs, n×k.
template <class T>
std::vector<T> signs(Index n, Index k, Index seed) {
    const Random random(static_cast<std::uint64_t>(seed));
    std::vector<T> out(count(n, k));
    std::uint64_t bits = 0;
    for (std::size_t at = 0; at < out.size(); ++at, bits >>= 1) {
        if (at % 64 == 0) bits = random.bits({.i = at / 64});
        out[at] = (bits & 1) == 0 ? T{-1} : T{1};
    }
    return out;
}

/// The range of a block found piece by piece from its products with random vectors (Martinsson and Voronin, "A
/// randomized blocked algorithm for efficiently computing rank-revealing factorizations of matrices", 2016, fig. 1):
/// A = U·Vᵀ + residual with UᵀU = I and Uᵀ·residual = 0. The residual is stored, so its norm is known, not estimated.
template <class T>
class RangeFinder {
public:
    explicit RangeFinder(Block<const T> a) : factors_{a.rows, a.cols, 0, {}, {}}, residual_(contiguous(a)) {}

    [[nodiscard]] Index rank() const { return factors_.rank; }
    [[nodiscard]] double residual_norm() const {
        return std::sqrt(sum_of_squares(residual_.data(), static_cast<Index>(residual_.size())));
    }
    [[nodiscard]] Factors<T> factors() && { return std::move(factors_); }

    /// k more dimensions. Not more in all than rows or columns.
    void extend(Index k) {
        std::vector<T> q = Reflectors<T>(new_directions(k), factors_.rows, k).columns();
        std::vector<T> b(count(factors_.cols, k));
        const Block<T> q_block(q.data(), factors_.rows, k, factors_.rows);
        const Block<T> b_block(b.data(), factors_.cols, k, factors_.cols);
        blas::gemm<T>({.op_a = Op::transpose, .beta = 0}, residual(), q_block, b_block);
        blas::gemm<T>({.op_b = Op::transpose, .alpha = -1}, q_block, b_block, residual());
        factors_.u.insert(factors_.u.end(), q.begin(), q.end());
        factors_.v.insert(factors_.v.end(), b.begin(), b.end());
        factors_.rank += k;
    }

private:
    Block<T> residual() { return {residual_.data(), factors_.rows, factors_.cols, factors_.rows}; }

    /// Y = residual·signs. Where the residual is small, rounding has brought parts of U back into it: Y − U·(UᵀY).
    std::vector<T> new_directions(Index k) {
        std::vector<T> s = signs<T>(factors_.cols, k, rank());
        std::vector<T> y(count(factors_.rows, k));
        const Block<T> y_block(y.data(), factors_.rows, k, factors_.rows);
        blas::gemm<T>({.beta = 0}, residual(), {s.data(), factors_.cols, k, factors_.cols}, y_block);
        if (rank() == 0) return y;
        std::vector<T> inside(count(rank(), k));
        const Block<T> u(factors_.u.data(), factors_.rows, rank(), factors_.rows);
        const Block<T> inside_block(inside.data(), rank(), k, rank());
        blas::gemm<T>({.op_a = Op::transpose, .beta = 0}, u, y_block, inside_block);
        blas::gemm<T>({.alpha = -1}, u, inside_block, y_block);
        return y;
    }

    Factors<T> factors_;
    std::vector<T> residual_;
};

/// What compression to an accuracy looks for: an error that is not below the rounding, and a rank below the useless
/// one.
struct Target {
    double accuracy, rounding_error;
    Index useless_rank;
};

/// Where the range finder ends at the latest: the rank that it needs is somewhat above that of the singular values, and
/// beyond half the full rank the singular values of the whole block cost less.
Index most_dimensions(Index full, Index useless_rank) {
    if (useless_rank > full) return full / 2;
    return std::min(full, useless_rank + useless_rank / 4);
}

/// Nothing if the rank is so large that the singular values of the whole block cost less, or that it is useless: by
/// what is left at last, or since that shrinks so slowly that it will be too much.
template <class T>
std::optional<Factors<T>> compress_by_range(Block<const T> a, const Target& target) {
    // accuracy² = residual² + truncation²: with the first share of it the rank is hardly above the smallest.
    constexpr double residual_share = 0.25;
    constexpr double largest_share = 0.9;
    constexpr double clearly_more = 3;
    const double accuracy = target.accuracy;
    const double largest_residual = std::max(residual_share * accuracy, target.rounding_error / 2);
    const Index full = std::min(a.rows, a.cols);
    const bool is_limited = target.useless_rank <= full;
    const Index most = most_dimensions(full, target.useless_rank);
    const Index step = std::clamp<Index>(most / 4, 1, 16);
    RangeFinder<T> range(a);
    double before = norm(a);
    while (range.rank() < most) {
        range.extend(std::min(step, most - range.rank()));
        const double residual = range.residual_norm();
        const bool is_enough = is_limited && range.rank() == most && residual <= largest_share * accuracy;
        if (residual <= largest_residual || is_enough) {
            Factors<T> f = std::move(range).factors();
            recompress(f, std::sqrt(accuracy * accuracy - residual * residual));
            return f;
        }
        // As if it went on to shrink by the same factor: mostly that comes ever nearer to 1.
        const double steps_left = static_cast<double>(most - range.rank()) / static_cast<double>(step);
        const double expected = residual * std::pow(residual / before, steps_left);
        if (is_limited && 2 * range.rank() >= target.useless_rank && expected > clearly_more * accuracy) break;
        before = residual;
    }
    return std::nullopt;
}

/// The place of the largest |x_i| of those not yet used; nothing if there is none above 0.
template <class T>
std::optional<Index> largest(const std::vector<T>& x, const std::vector<char>& used) {
    std::optional<Index> at;
    T most = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (used[i] == 0 && std::abs(x[i]) > most) {
            most = std::abs(x[i]);
            at = static_cast<Index>(i);
        }
    return at;
}

/// A row or column that was drawn, and how many of those not yet used it stands for.
struct Drawn {
    Index place;
    double stands_for;
};

/// Some of those not yet used, at random: three of four draws go with the bounds, one is equal for all. One from each
/// of equal stretches, so that neighbours do not stand for all.
std::vector<Drawn> draw(const std::vector<char>& used, const std::vector<double>& bounds, std::uint64_t seed) {
    constexpr double draws = 16;
    std::vector<Drawn> unused;
    double all_bounds = 0;
    for (std::size_t i = 0; i < used.size(); ++i)
        if (used[i] == 0) {
            unused.push_back({static_cast<Index>(i), 1});
            all_bounds += bounds[i];
        }
    const auto n = static_cast<double>(unused.size());
    if (n <= draws) return unused;
    std::vector<Drawn> drawn;
    double passed = 0;
    for (const Drawn& one : unused) {
        const double by_bound = all_bounds > 0 ? bounds[count(one.place)] / all_bounds : 1 / n;
        const double expected = draws * (0.25 / n + 0.75 * by_bound);
        passed += expected;
        // Draw k falls at a random place of [k, k + 1).
        const auto next = [&] { return static_cast<double>(drawn.size()) + Random(seed).uniform({.i = drawn.size()}); };
        while (next() < passed) drawn.push_back({one.place, 1 / expected});
    }
    return drawn;
}

/// How the norms of terms shrink: a line through the logarithms of the last two thirds of them.
class Decay {
public:
    void add(double term) { logarithms_.push_back(std::log(term)); }

    struct Line {
        double middle, value;  ///< a point on it
        double slope, error;   ///< and the standard error of the slope
        double length;
    };
    [[nodiscard]] Line line() const {
        const std::size_t first = logarithms_.size() / 3;
        const auto n = static_cast<double>(logarithms_.size() - first);
        Line line{.middle = static_cast<double>(first) + (n - 1) / 2, .length = n};
        const double spread = n * (n * n - 1) / 12;  // Σ(k − middle)²
        for (std::size_t k = first; k < logarithms_.size(); ++k) {
            line.value += logarithms_[k] / n;
            line.slope += (static_cast<double>(k) - line.middle) * logarithms_[k] / spread;
        }
        double squares = 0;
        for (std::size_t k = first; k < logarithms_.size(); ++k)
            squares += std::pow(logarithms_[k] - line.value - line.slope * (static_cast<double>(k) - line.middle), 2);
        line.error = std::sqrt(squares / ((n - 2) * spread));
        return line;
    }

private:
    std::vector<double> logarithms_;
};

/// log (Σ_{k ≥ rank} t_k²)^½ up to this order, if terms go on as steeply as can be, by a slope that is three standard
/// errors steeper than the line's; most fall ever less steeply.
double least_tail(const Decay::Line& line, Index rank, Index order) {
    constexpr double standard_errors = 3;
    constexpr double flat = -1e-9;
    const double slope = std::min(line.slope - standard_errors * line.error, flat);
    const double at_rank = line.value + slope * (static_cast<double>(rank) - line.middle);
    // A geometric series of squares.
    const double series = std::expm1(2 * slope * static_cast<double>(order - rank)) / std::expm1(2 * slope);
    return at_rank + std::log(series) / 2;
}

/// Adaptive cross approximation with partial pivoting (Bebendorf, "Approximation of boundary element matrices", 2000):
/// with R = A − U·Vᵀ, row i and the column j where it is largest give the next term, R(:,j)·R(i,:)/R(i,j).
template <class T>
class Crosses {
public:
    explicit Crosses(const TileSource<T>& block)
        : block_(block),
          factors_{block.rows(), block.cols(), 0, {}, {}},
          row_used_(count(block.rows())),
          col_used_(count(block.cols())),
          row_(count(block.cols())),
          column_(count(block.rows())) {
        const auto usable = [](double bound) { return std::isfinite(bound) && bound > 0 ? bound : 0; };
        for (Index i = 0; i < block.rows(); ++i) row_bounds_.push_back(usable(block.row_bound(i)));
        for (Index j = 0; j < block.cols(); ++j) col_bounds_.push_back(usable(block.column_bound(j)));
    }

    [[nodiscard]] std::optional<Index> first_row() const { return largest(row_bounds_, row_used_); }
    [[nodiscard]] Index rank() const { return factors_.rank; }
    /// Whether all elements met so far are.
    [[nodiscard]] bool finite() const { return finite_; }
    [[nodiscard]] double rounding_error() const { return rounding<T>(std::sqrt(squares_of_terms_)); }
    [[nodiscard]] Factors<T> factors() && { return std::move(factors_); }

    /// Crosses from this row on, each from the row where the last column was largest, until a term is at most `limit`,
    /// crosses are too many, or the rank will be useless.
    void extend(std::optional<Index> row, double limit, double accuracy, const CrossLimits& limits) {
        while (row && rank() <= limits.crosses) {
            const double term = add(*row);
            if (!(term > std::max(limit, rounding_error() / 2))) return;
            decay_.add(term);
            if (will_be_useless(accuracy, limits.useless_rank)) {
                useless_ = true;
                return;
            }
            row = largest(column_, row_used_);
        }
    }
    /// Whether terms shrink so slowly that the rank is sure to be useless, as far as one can tell.
    [[nodiscard]] bool useless() const { return useless_; }

    /// ‖R‖ by estimate, and the largest element seen and its row.
    struct Residual {
        double norm = 0;
        T largest = 0;
        std::optional<Index> row;
    };
    Residual in_some_rows(std::uint64_t seed) {
        Residual out;
        double squares = 0;
        for (const auto& [i, stands_for] : draw(row_used_, row_bounds_, seed)) {
            squares += stands_for * find_row(i);
            if (const auto j = largest(row_, col_used_)) note(row_[count(*j)], i, out);
        }
        out.norm = std::sqrt(squares);
        return out;
    }
    Residual in_some_columns(std::uint64_t seed) {
        Residual out;
        double squares = 0;
        for (const auto& [j, stands_for] : draw(col_used_, col_bounds_, seed)) {
            squares += stands_for * find_column(j);
            if (const auto i = largest(column_, row_used_)) note(column_[count(*i)], *i, out);
        }
        out.norm = std::sqrt(squares);
        return out;
    }

private:
    /// Looked at from a quarter of the useless rank on, now and then, so that chance has few occasions; but where terms
    /// hardly shrink, as those of blocks with a rank in the strict sense, beyond half of it. Terms are within a few
    /// times of the singular values.
    [[nodiscard]] bool will_be_useless(double accuracy, Index useless_rank) const {
        constexpr Index least = 16;
        constexpr double clearly_more = 3;
        constexpr double clear_fall = 1.5;
        const Index full = std::min(factors_.rows, factors_.cols);
        const Index first = std::max(least, useless_rank / 4);
        if (useless_rank >= full || rank() < first) return false;
        if ((rank() - first) % std::max<Index>(1, useless_rank / 16) != 0) return false;
        const Decay::Line line = decay_.line();
        if (-line.slope * line.length < clear_fall && 2 * rank() <= useless_rank) return false;
        const double allowed = clearly_more * std::max(accuracy, rounding_error());
        return allowed > 0 && least_tail(line, useless_rank, full) > std::log(allowed);
    }

    static void note(T element, Index row, Residual& residual) {
        if (std::abs(element) <= residual.largest) return;
        residual.largest = std::abs(element);
        residual.row = row;
    }

    /// Row i of R; returns its sum of squares.
    double find_row(Index i) {
        block_.row(i, row_.data());
        return subtract(factors_.v, factors_.u, i, row_);
    }
    double find_column(Index j) {
        block_.column(j, column_.data());
        return subtract(factors_.u, factors_.v, j, column_);
    }
    /// x −= along·across(at, :)ᵀ; returns the sum of squares of x.
    double subtract(std::vector<T>& along, const std::vector<T>& across, Index at, std::vector<T>& x) {
        const auto n = static_cast<Index>(x.size());
        if (rank() > 0) {
            const auto stride = static_cast<Index>(across.size()) / rank();
            coefficients_.resize(count(rank()));
            for (Index k = 0; k < rank(); ++k) coefficients_[count(k)] = across[count(k, stride) + count(at)];
            blas::gemv<T>({.alpha = -1}, {along.data(), n, rank(), n}, {coefficients_.data(), rank(), 1, rank()},
                          {x.data(), n, 1, n});
        }
        const double squares = sum_of_squares(x.data(), n);
        finite_ = finite_ && std::isfinite(squares);
        return squares;
    }

    /// The cross of row i; returns the norm of its term, 0 if the row has no pivot.
    double add(Index i) {
        find_row(i);
        row_used_[count(i)] = 1;
        const auto j = largest(row_, col_used_);
        if (!j || is_rounding(row_[count(*j)])) return 0;
        const T pivot = row_[count(*j)];
        for (T& x : row_) x /= pivot;
        const double squares = find_column(*j) * sum_of_squares(row_.data(), factors_.cols);
        col_used_[count(*j)] = 1;
        factors_.u.insert(factors_.u.end(), column_.begin(), column_.end());
        factors_.v.insert(factors_.v.end(), row_.begin(), row_.end());
        ++factors_.rank;
        squares_of_terms_ += squares;
        return std::sqrt(squares);
    }

    /// Whether a block full of such elements is: to divide by one spreads rounding over the row.
    [[nodiscard]] bool is_rounding(T element) const {
        const double elements = static_cast<double>(factors_.rows) * static_cast<double>(factors_.cols);
        return static_cast<double>(std::abs(element)) * std::sqrt(elements) < rounding_error();
    }

    const TileSource<T>& block_;
    Factors<T> factors_;
    std::vector<char> row_used_, col_used_;
    std::vector<double> row_bounds_, col_bounds_;
    std::vector<T> row_, column_, coefficients_;
    double squares_of_terms_ = 0;
    bool finite_ = true;
    Decay decay_;
    bool useless_ = false;
};

}  // namespace

template <class T>
void recompress(Factors<T>& f, double accuracy) {
    if (f.rows == 0 || f.cols == 0 || f.rank == 0) {
        f = {f.rows, f.cols, 0, {}, {}};
        return;
    }
    const double terms = norm_of_terms(f);
    if (!std::isfinite(terms)) return;
    // U·Vᵀ = Q_U·(R_U·R_Vᵀ)·Q_Vᵀ
    const Reflectors<T> q_u(f.u, f.rows, f.rank);
    const Reflectors<T> q_v(f.v, f.cols, f.rank);
    std::vector<T> r_u = q_u.triangle();
    std::vector<T> r_v = q_v.triangle();
    std::vector<T> core(count(q_u.order(), q_v.order()));
    blas::gemm<T>({.op_b = Op::transpose, .beta = 0}, {r_u.data(), q_u.order(), f.rank, q_u.order()},
                  {r_v.data(), q_v.order(), f.rank, q_v.order()}, {core.data(), q_u.order(), q_v.order(), q_u.order()});
    const auto svd = lapack::singular_values(std::move(core), q_u.order(), q_v.order());
    if (!svd) return;
    const Index rank = rank_for(svd->values, std::max(accuracy, rounding<T>(terms)));
    std::vector<T> u = q_u.times(scaled_left(*svd, rank, f.rows), rank);
    std::vector<T> v = q_v.times(right(*svd, rank, f.cols), rank);
    f = {f.rows, f.cols, rank, std::move(u), std::move(v)};
}

template <class T>
std::optional<Factors<T>> compress(Block<const T> a, double accuracy, Index useless_rank) {
    if (a.rows == 0 || a.cols == 0) return Factors<T>{a.rows, a.cols, 0, {}, {}};
    const bool is_limited = useless_rank <= std::min(a.rows, a.cols);
    const double size = norm(a);
    if (!std::isfinite(size)) return is_limited ? std::nullopt : std::optional(uncompressed(a));
    const double rounding_error = rounding<T>(size);
    accuracy = std::max(accuracy, rounding_error);
    if (size <= accuracy) return Factors<T>{a.rows, a.cols, 0, {}, {}};
    auto f = compress_by_range(a, {accuracy, rounding_error, useless_rank});
    if (!f && !is_limited) f = truncated(a, accuracy);
    if (f && f->rank >= useless_rank) return std::nullopt;
    return f;
}

template <class T>
Factors<T> compress(Block<const T> a, double accuracy) {
    return compress(a, accuracy, no_useless_rank).value();
}

template <class T>
Factors<T> sum(double alpha, const Factors<T>& a, double beta, const Factors<T>& b) {
    Factors<T> f{a.rows, a.cols, a.rank + b.rank, {}, a.v};
    f.u.reserve(a.u.size() + b.u.size());
    for (const T x : a.u) f.u.push_back(static_cast<T>(alpha) * x);
    for (const T x : b.u) f.u.push_back(static_cast<T>(beta) * x);
    f.v.insert(f.v.end(), b.v.begin(), b.v.end());
    return f;
}

template <class T>
CrossApproximation<T> cross_approximate(const TileSource<T>& block, double accuracy, const CrossLimits& limits) {
    // ‖A − U·Vᵀ‖ may be this much by estimate, and recompression may lose the rest. The two errors are all but
    // orthogonal, so that an estimate four times too small does no harm: 0.4² + 0.9² < 1.
    constexpr double residual_share = 0.1;
    constexpr double truncation_share = 0.9;
    // Terms shrink unevenly, and to look at the residual in vain costs as much as 16 crosses.
    constexpr double term_share = 0.25 * residual_share;
    constexpr std::uint64_t rounds = 16;
    if (block.rows() == 0 || block.cols() == 0) return {.factors = Factors<T>{block.rows(), block.cols(), 0, {}, {}}};
    Crosses<T> crosses(block);
    std::optional<Index> row = crosses.first_row();
    double smallest_term = term_share * accuracy;
    for (std::uint64_t round = 0; round < rounds; ++round, smallest_term /= 2) {
        crosses.extend(row, smallest_term, accuracy, limits);
        if (crosses.useless() && crosses.finite()) return {.outlook = RankOutlook::useless};
        if (crosses.rank() > limits.crosses || !crosses.finite()) return {};
        const auto in_rows = crosses.in_some_rows(2 * round);
        const auto in_columns = crosses.in_some_columns(2 * round + 1);
        if (!crosses.finite()) return {};
        if (std::max(in_rows.norm, in_columns.norm) <= std::max(residual_share * accuracy, crosses.rounding_error())) {
            Factors<T> f = std::move(crosses).factors();
            recompress(f, truncation_share * accuracy);
            return {.factors = std::move(f)};
        }
        row = in_rows.largest > in_columns.largest ? in_rows.row : in_columns.row;
    }
    return {};
}

template <class T>
bool is_accurate(const Factors<T>& f, const TileSource<T>& block, double accuracy) {
    constexpr Index columns = 32;
    std::vector<T> some(count(f.rows, columns));
    double squares = 0;
    double differences = 0;
    for (Index first = 0; first < f.cols; first += columns) {
        const Index several = std::min(columns, f.cols - first);
        block.columns(first, several, some.data());
        squares += sum_of_squares(some.data(), f.rows * several);
        if (f.rank > 0) {
            // BLAS does not write what it only reads.
            const Block<T> u(const_cast<T*>(f.u.data()), f.rows, f.rank, f.rows);           // NOLINT(*-const-cast)
            const Block<T> v(const_cast<T*>(f.v.data()) + first, several, f.rank, f.cols);  // NOLINT(*-const-cast)
            blas::gemm<T>({.op_b = Op::transpose, .alpha = -1}, u, v, {some.data(), f.rows, several, f.rows});
        }
        differences += sum_of_squares(some.data(), f.rows * several);
    }
    return std::sqrt(differences) <= std::max(accuracy, rounding<T>(std::sqrt(squares)));
}

template bool is_accurate(const Factors<float>&, const TileSource<float>&, double);
template bool is_accurate(const Factors<double>&, const TileSource<double>&, double);
template void recompress(Factors<float>&, double);
template void recompress(Factors<double>&, double);
template Factors<float> compress(Block<const float>, double);
template Factors<double> compress(Block<const double>, double);
template std::optional<Factors<float>> compress(Block<const float>, double, Index);
template std::optional<Factors<double>> compress(Block<const double>, double, Index);
template Factors<float> sum(double, const Factors<float>&, double, const Factors<float>&);
template Factors<double> sum(double, const Factors<double>&, double, const Factors<double>&);
template CrossApproximation<float> cross_approximate(const TileSource<float>&, double, const CrossLimits&);
template CrossApproximation<double> cross_approximate(const TileSource<double>&, double, const CrossLimits&);

}  // namespace tesela::low_rank
