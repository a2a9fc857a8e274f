#pragma once

// Redistributions of compressed matrices drawn at random, run on any engine and compared with their definition.

#include "support/redistribution.hpp"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tesela::testing {

/// A redistribution between matrices of which one or both are compressed.
struct CompressedMove {
    Redistribution move;
    std::optional<Compression> from, to;

    [[nodiscard]] std::string name() const {
        const auto words = [](const std::optional<Compression>& c) {
            return c ? fmt::format("to {} beside {}", c->accuracy, c->dense_band) : std::string("not");
        };
        return fmt::format("{}; compressed {} -> {}", move.name(), words(from), words(to));
    }
};

inline Compression any_compression() {
    return {.accuracy = *rc::gen::element(1e-1, 1e-3, 1e-6, 1e-10, 0.0),
            .dense_band = *rc::gen::inRange<Index>(0, 3),
            .precision = *rc::gen::element(FactorPrecision::full, FactorPrecision::as_needed)};
}

inline CompressedMove any_compressed_move() {
    CompressedMove m{any_redistribution(), any_compression(), any_compression()};
    const int which = *rc::gen::inRange(0, 6);
    if (which == 0) m.from.reset();
    if (which == 1) m.to.reset();
    if (which == 2 && m.to) m.to->accuracy = m.from->accuracy;
    return m;
}

/// Smooth away from the diagonal, and of other values where the target has some.
inline double smooth_element(const void*, ElementIndex at) {
    const auto i = static_cast<double>(at.i);
    const auto j = static_cast<double>(at.j);
    return 1 / (1 + std::abs(i - j) / 10) + 0.2 * std::cos(0.03 * i - 0.05 * j);
}
inline double other_smooth_element(const void*, ElementIndex at) {
    return -std::exp(-0.01 * static_cast<double>(at.i)) * std::sin(0.04 * static_cast<double>(at.j) + 1);
}

/// The largest error of a target tile in the Frobenius norm, over what it may be: 1 at most is right. A target is
/// compared with what was stored in the matrices before, so that nothing but the redistribution counts.
template <class T>
double run_compressed_move(Engine& engine, const CompressedMove& m) {
    const Redistribution& r = m.move;
    Stream s(engine);
    Matrix<T> A(s, r.from, owners(r.from_family, r.from.grid(), engine.node_count()), {.compression = m.from});
    Matrix<T> B(s, r.to, owners(r.to_family, r.to.grid(), engine.node_count()), {.name = "B", .compression = m.to});
    generate(s, A.view(), {smooth_element});
    if (r.target_has_values) generate(s, B.view(), {other_smooth_element});
    const std::vector<T> a = gather(s, A.view());
    const std::vector<T> before = r.target_has_values ? gather(s, B.view()) : std::vector<T>{};
    redistribute(s, source_view(r, A), B.view(), r.options);
    generate(s, A.view(), {other_smooth_element});  // its source may be overwritten at once
    zero_what_was_not_written(s, B);
    const std::vector<T> after = gather(s, B.view());
    RC_ASSERT(s.wait().ok());
    const auto at = [](const std::vector<T>& all, const Tiling& tiling, ElementIndex e) {
        return static_cast<double>(all[static_cast<std::size_t>(e.i + e.j * tiling.size().i)]);
    };
    const std::vector<T> expected = expected_target<T>(
        r, [&](ElementIndex e) { return at(a, r.from, e); }, [&](ElementIndex e) { return at(before, r.to, e); });
    double worst = 0;
    for (Index tj = 0; tj < r.to.grid().cols; ++tj)
        for (Index ti = 0; ti < r.to.grid().rows; ++ti) {
            double error = 0;
            double norm = 0;
            for (Index j = r.to.col_begin(tj); j < r.to.col_begin(tj) + r.to.cols(tj); ++j)
                for (Index i = r.to.row_begin(ti); i < r.to.row_begin(ti) + r.to.rows(ti); ++i) {
                    error += std::pow(at(after, r.to, {i, j}) - at(expected, r.to, {i, j}), 2);
                    norm += std::pow(at(expected, r.to, {i, j}), 2);
                }
            const double rounding =
                100 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (1 + std::sqrt(norm));
            if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
            worst = std::max(worst, std::sqrt(error) / ((m.to ? m.to->accuracy : 0) + rounding));
        }
    return worst;
}

}  // namespace tesela::testing
