#pragma once

// The meuse data set of data/ and the figures that R 4.2 gives for it: dense formulas for the log-likelihoods,
// nlme::gls and optim for the fits, gstat::krige for the predictions.

#include "tesela/geo/model.hpp"
#include "tesela/io/csv.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace tesela::testing {

inline std::string data_file(const std::string& name) { return std::string(TESELA_DATA_DIR) + "/" + name; }

inline geo::Observations meuse() {
    const CsvTable table = read_csv(data_file("meuse.csv"));
    const NumericTable numbers = table.numbers({"x", "y", "log_zinc"}, NaPolicy::error);
    return {.coordinates = {numbers.columns[0], numbers.columns[1]},
            .values = numbers.columns[2],
            .coordinate_names = {"x", "y"},
            .value_name = "log_zinc",
            .file = "meuse.csv",
            .lines = numbers.lines};
}

inline double mean_of_meuse() {
    const auto values = meuse().values;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The first points of meuse_grid.csv.
inline std::vector<std::vector<double>> meuse_grid(std::size_t points) {
    NumericTable numbers = read_csv(data_file("meuse_grid.csv")).numbers({"x", "y"}, NaPolicy::error);
    for (auto& column : numbers.columns) column.resize(std::min(points, column.size()));
    return numbers.columns;
}

/// Log-likelihood of log(zinc) less its mean, without a trend; relative error 1e-10.
inline std::vector<std::pair<CovarianceParameters, double>> meuse_log_likelihoods() {
    return {{{.sigma2 = 0.6, .range = 200, .smoothness = 0.5, .nugget = 0}, -117.9845698762},
            {{.sigma2 = 0.6, .range = 200, .smoothness = 0.5, .nugget = 0.05}, -123.8210842438},
            {{.sigma2 = 0.6, .range = 150, .smoothness = 1.5, .nugget = 0.05}, -104.6973330113},
            {{.sigma2 = 0.6, .range = 180, .smoothness = 0.9, .nugget = 0.05}, -110.3180188026}};
}

/// Maximum likelihood with a constant trend.
struct ReferenceFit {
    CovarianceParameters theta;
    double log_likelihood = 0;
};
inline std::array<ReferenceFit, 2> meuse_fits() {
    return {{{{.sigma2 = 1.84992, .range = 2144.92, .smoothness = 0.5, .nugget = 0.0346556}, -99.12877762},
             {{.sigma2 = 1.413927, .range = 440.104, .smoothness = 1.5, .nugget = 0.0949935}, -97.37727068}}};
}
inline constexpr double meuse_mean_of_the_exponential_fit = 6.6364007;

/// Kriging of the first three points of the grid, by gstat, with these parameters of an exponential covariance.
inline constexpr CovarianceParameters meuse_kriging_theta{
    .sigma2 = 0.55, .range = 250, .smoothness = 0.5, .nugget = 0.05};
struct ReferenceKriging {
    std::array<double, 3> mean;
    std::array<double, 3> variance;
};
inline constexpr ReferenceKriging meuse_ordinary{{6.353014824, 6.492734048, 6.39134395},
                                                 {0.450965329, 0.376215721, 0.4038648316}};
/// Simple kriging about the sample mean.
inline constexpr ReferenceKriging meuse_simple{{6.317831406, 6.466801732, 6.363185565},
                                               {0.4459500937, 0.3734911516, 0.4006524233}};

}  // namespace tesela::testing
