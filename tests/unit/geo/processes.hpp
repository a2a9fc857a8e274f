#pragma once

// Random small Gaussian processes for property tests: families, metrics, trends, dimensions, ragged tiles.

#include "unit/geo/dense_oracle.hpp"

#include <rapidcheck.h>

#include <algorithm>

namespace tesela::testing {

/// Over the whole interval from the first case on and while a case shrinks: points that draw together are another
/// problem, in which rounding decides.
inline std::vector<double> column_between(Index n, double low, double high) {
    const auto steps = *rc::gen::noShrink(rc::gen::container<std::vector<int>>(
        static_cast<std::size_t>(n), rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, 1000001))));
    std::vector<double> values;
    for (const int step : steps) values.push_back(low + (high - low) * step / 1e6);
    return values;
}

/// Coordinates that suit a metric: degrees on the Earth, anything of order one otherwise.
inline std::vector<std::vector<double>> any_coordinates(Metric metric, Index dimensions, Index n) {
    if (metric != Metric::euclidean) return {column_between(n, -180, 180), column_between(n, -89, 89)};
    std::vector<std::vector<double>> columns;
    for (Index d = 0; d < dimensions; ++d) columns.push_back(column_between(n, 0, 1));
    return columns;
}

/// A process of n observations whose covariance matrix is well conditioned, thanks to a nugget.
inline DenseProcess any_process(Index n) {
    DenseProcess p;
    p.model.metric = *rc::gen::element(Metric::euclidean, Metric::chordal, Metric::great_circle);
    const bool circle = p.model.metric == Metric::great_circle;
    p.model.family =
        circle ? *rc::gen::element(CovarianceFamily::matern, CovarianceFamily::exponential,
                                   CovarianceFamily::powered_exponential)
               : *rc::gen::element(CovarianceFamily::matern, CovarianceFamily::exponential,
                                   CovarianceFamily::squared_exponential, CovarianceFamily::powered_exponential);
    p.model.trend = *rc::gen::element(geo::Trend::none, geo::Trend::constant, geo::Trend::linear);
    if (p.model.trend == geo::Trend::none) p.model.center = *rc::gen::element(0.0, 2.5);
    p.data.coordinates = any_coordinates(p.model.metric, *rc::gen::inRange<Index>(1, 4), n);
    p.data.values = column_between(n, -3, 7);
    const double unit = p.model.metric == Metric::euclidean ? 1 : 5000;
    p.theta = {.sigma2 = *rc::gen::element(0.3, 1.0, 20.0),
               .range = unit * *rc::gen::element(0.05, 0.2, 1.0),
               .smoothness = circle ? *rc::gen::element(0.3, 0.5) : *rc::gen::element(0.3, 0.5, 1.23, 2.0),
               .nugget = *rc::gen::element(0.05, 0.5)};
    return p;
}

inline bool varies(const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [&](double v) { return v != values.front(); });
}

/// Whether a linear trend is comfortably determined, so that rounding does not decide the comparison.
inline bool usable(const DenseProcess& p) {
    bool good = varies(p.data.values);
    for (const auto& column : p.data.coordinates) {
        auto sorted = column;
        std::sort(sorted.begin(), sorted.end());
        good = good && std::unique(sorted.begin(), sorted.end()) == sorted.end();
    }
    return good;
}

}  // namespace tesela::testing
