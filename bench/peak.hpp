#pragma once

#include "tesela/base/index.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <vector>

namespace tesela::bench {

/// A product of square matrices and its rate, in flops per second.
struct ProductRate {
    Index order = 0;
    double rate = 0;
};

[[nodiscard]] inline double product_flops(Index order) { return 2 * std::pow(static_cast<double>(order), 3); }

/// Rates of ever larger products, until they have stopped rising.
struct PeakSearch {
    std::vector<ProductRate> tried;

    [[nodiscard]] const ProductRate& best() const { return *std::ranges::max_element(tried, {}, &ProductRate::rate); }
    /// Whether the last two orders gave no more than 1 % above the best of those before them.
    [[nodiscard]] bool settled() const {
        if (tried.size() < 3) return false;
        const auto last_two = tried.end() - 2;
        const double before = std::ranges::max_element(tried.begin(), last_two, {}, &ProductRate::rate)->rate;
        return std::all_of(last_two, tried.end(), [&](const ProductRate& one) { return one.rate <= 1.01 * before; });
    }
};

/// Tries orders from 512 on, each half as large again, until the rate has settled or the next product would take longer
/// than `longest_seconds` at the best rate so far. What a machine can do at most is not known beforehand: two cores are
/// there at an order of 1000, forty are not at 4000.
[[nodiscard]] inline PeakSearch find_peak(const std::function<double(Index order)>& seconds_of,
                                          double longest_seconds) {
    PeakSearch search;
    for (Index order = 512;; order += order / 2) {
        search.tried.push_back({order, product_flops(order) / seconds_of(order)});
        const double next_seconds = product_flops(order + order / 2) / search.best().rate;
        if (search.settled() || next_seconds > longest_seconds) return search;
    }
}

}  // namespace tesela::bench
