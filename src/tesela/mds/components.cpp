#include "tesela/mds/components.hpp"

#include "tesela/io/matrix_file.hpp"
#include "tesela/mds/goodness_of_fit.hpp"
#include "tesela/mds/resolve.hpp"

#include <algorithm>
#include <cmath>

namespace tesela::mds {
namespace {

/// W^-½·U·Σ = the centred rows times the loadings.
std::vector<double> scores_of(const Decomposition& d, const std::vector<double>& weights) {
    std::vector<double> scores = d.left;
    for (Index k = 0; k < d.wanted; ++k)
        for (Index i = 0; i < d.rows; ++i) {
            const double mass = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
            scores[static_cast<std::size_t>(i + k * d.rows)] *= d.values[static_cast<std::size_t>(k)] / std::sqrt(mass);
        }
    return scores;
}

}  // namespace

Components principal_components(Stream& stream, const MatrixFile& file, ColumnScale scale,
                                const DecompositionOptions& options) {
    const Analysis analysis = scale == ColumnScale::unit_deviation ? Analysis::scaled_components : Analysis::components;
    return principal_components(stream, file, resolve_for(stream, file, analysis, options));
}

Components principal_components(Stream& stream, const MatrixFile& file, const Decision& decision) {
    const Analysis analysis = decision.analysis;
    const std::vector<double>& weights = decision.asked.row_weights;
    Components result{.decomposition = decompose(stream, file, decision)};
    const Decomposition& d = result.decomposition;
    const double freedom = degrees_of_freedom(weights, d.rows);
    const Index known = std::min(static_cast<Index>(d.values.size()), most_dimensions(analysis, d.rows, d.cols));
    for (Index k = 0; k < known; ++k) {
        result.deviations.push_back(d.values[static_cast<std::size_t>(k)] / std::sqrt(freedom));
        result.proportions.push_back(explained_part(d, analysis, k).high);
    }
    result.scores = scores_of(d, weights);
    for (const double sum : d.col_sums) result.centres.push_back(sum / d.weight);
    if (analysis == Analysis::scaled_components)
        for (const double squares : d.col_squares) result.scales.push_back(std::sqrt(squares / freedom));
    return result;
}

}  // namespace tesela::mds
