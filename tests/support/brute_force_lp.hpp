#pragma once

#include "tesela/base/fractional_load.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace tesela::testing {

/// The solution of a small system of equations by elimination; nothing if it is singular.
inline std::optional<std::vector<double>> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
        if (std::abs(a[pivot][k]) < 1e-9) return std::nullopt;
        std::swap(a[k], a[pivot]);
        std::swap(b[k], b[pivot]);
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            const double factor = a[i][k] / a[k][k];
            for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = 0; k < n; ++k) b[k] /= a[k][k];
    return b;
}

/// The optimum of least_seconds's linear program by trying every vertex of its dual: prices y of machines and z of
/// work,
///     max Σ_w a_w·z_w  with  z_w ≤ y_g·d_wg,  y ≥ 0,  Σ_g n_g·y_g = 1 .
/// For few kinds of work and machines, of which all exist.
inline double by_brute_force(const FractionalLoad& load) {
    const std::size_t works = load.amounts.size();
    const std::size_t kinds = load.machines.size();
    const std::size_t unknowns = kinds + works;
    std::vector<std::vector<double>> rows;  // of inequalities row·(y, z) ≤ 0
    for (std::size_t g = 0; g < kinds; ++g) {
        rows.emplace_back(unknowns, 0.0);
        rows.back()[g] = -1;
        for (std::size_t w = 0; w < works; ++w) {
            if (!std::isfinite(load.seconds[w][g])) continue;
            rows.emplace_back(unknowns, 0.0);
            rows.back()[g] = -load.seconds[w][g];
            rows.back()[kinds + w] = 1;
        }
    }
    std::vector<double> budget(unknowns, 0.0);
    std::copy(load.machines.begin(), load.machines.end(), budget.begin());
    const auto value_of = [&](const std::vector<double>& x) {
        double value = 0;
        for (std::size_t w = 0; w < works; ++w) value += load.amounts[w] * x[kinds + w];
        return value;
    };
    const auto allowed = [&](const std::vector<double>& x) {
        return std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
            double sum = 0;
            for (std::size_t k = 0; k < unknowns; ++k) sum += row[k] * x[k];
            return sum <= 1e-9;
        });
    };
    double best = 0;
    std::vector<bool> tight(rows.size(), false);
    std::fill(tight.begin(), tight.begin() + static_cast<std::ptrdiff_t>(unknowns - 1), true);
    do {
        std::vector<std::vector<double>> a{budget};
        for (std::size_t r = 0; r < rows.size(); ++r)
            if (tight[r]) a.push_back(rows[r]);
        std::vector<double> right(unknowns, 0.0);
        right[0] = 1;
        const auto x = solved(a, right);
        if (x && allowed(*x)) best = std::max(best, value_of(*x));
    } while (std::prev_permutation(tight.begin(), tight.end()));
    return best;
}

}  // namespace tesela::testing
