#include "tesela/mds/placement.hpp"

#include "tesela/mds/input_check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tesela::mds {
namespace {

/// The points that coordinates are sums over: columns of the new file.
struct Basis {
    Analysis rule;  ///< for what values may be
    Index columns = 0;
    Index dimensions = 0;
    std::vector<double> factors;  ///< columns x dimensions
    /// What a row becomes before it is multiplied: (row, its values, one per column).
    std::function<void(Index, std::vector<double>&)> prepare;
};

void require_columns(const MatrixFile& file, Index columns, const char* what) {
    if (file.cols() != columns)
        throw Error("{} has {} columns, where the analysis has {} {}", file.name(), file.cols(), columns, what);
}

std::vector<double> multiply_rows(const MatrixFile& file, const Basis& basis) {
    constexpr Index panel_elements = Index{1} << 20;
    const Index panel = file.panel_rows(std::max<Index>(1, panel_elements / file.cols()));
    std::vector<double> result(static_cast<std::size_t>(file.rows() * basis.dimensions));
    std::vector<double> values;
    std::vector<double> row(static_cast<std::size_t>(basis.columns));
    for (Index first = 0; first < file.rows(); first += panel) {
        const MatrixBlock block{.row = first, .rows = std::min(panel, file.rows() - first), .cols = file.cols()};
        values.resize(static_cast<std::size_t>(block.rows * block.cols));
        if (const ReadOutcome outcome = file.read(block, ColumnMajor<double>{values.data(), block.rows}); !outcome)
            throw Error(outcome.reason());
        if (const InputFlaw flaw = find_flaw(basis.rule, block, {values.data(), block.rows}))
            throw input_error(file, flaw);
        for (Index i = 0; i < block.rows; ++i) {
            for (Index j = 0; j < block.cols; ++j)
                row[static_cast<std::size_t>(j)] = values[static_cast<std::size_t>(i + j * block.rows)];
            basis.prepare(first + i, row);
            for (Index k = 0; k < basis.dimensions; ++k)
                result[static_cast<std::size_t>(first + i + k * file.rows())] =
                    std::inner_product(row.begin(), row.end(), basis.factors.begin() + k * basis.columns, 0.0);
        }
    }
    return result;
}

}  // namespace

std::vector<double> place(const Scaling& scaling, const MatrixFile& distances) {
    const Decomposition& d = scaling.decomposition;
    require_columns(distances, d.rows, "points");
    // The masses of the rows, w·x/(2λ): what Λ⁻¹·Xᵀ·W/2 has in each column.
    std::vector<double> factors = scaling.coordinates;
    for (Index k = 0; k < scaling.dimensions; ++k)
        for (Index i = 0; i < d.rows; ++i) {
            const double mass = scaling.weights.empty() ? 1.0 : scaling.weights[static_cast<std::size_t>(i)];
            factors[static_cast<std::size_t>(i + k * d.rows)] *= 0.5 * mass / d.values[static_cast<std::size_t>(k)];
        }
    std::vector<double> from_centroid = d.row_sums;
    const double of_all = d.total / d.weight / d.weight;
    for (double& sum : from_centroid) sum = sum / d.weight - 0.5 * of_all;
    const auto prepare = [&](Index, std::vector<double>& row) {
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = from_centroid[i] - row[i] * row[i];
        // Coordinates have the mean 0, so that any constant may be taken away: that of the row loses least.
        double mean = 0;
        for (std::size_t i = 0; i < row.size(); ++i)
            mean += (scaling.weights.empty() ? 1.0 : scaling.weights[i]) * row[i];
        mean /= d.weight;
        for (double& value : row) value -= mean;
    };
    // No point is its own neighbour here: as for counts, values are finite and not negative.
    return multiply_rows(distances, {.rule = Analysis::correspondence,
                                     .columns = d.rows,
                                     .dimensions = scaling.dimensions,
                                     .factors = std::move(factors),
                                     .prepare = prepare});
}

std::vector<double> place(const Components& components, const MatrixFile& rows) {
    const Decomposition& d = components.decomposition;
    require_columns(rows, d.cols, "columns");
    const auto prepare = [&](Index, std::vector<double>& row) {
        for (std::size_t j = 0; j < row.size(); ++j)
            row[j] = (row[j] - components.centres[j]) / (components.scales.empty() ? 1.0 : components.scales[j]);
    };
    return multiply_rows(rows, {.rule = Analysis::components,
                                .columns = d.cols,
                                .dimensions = d.wanted,
                                .factors = d.right,
                                .prepare = prepare});
}

std::vector<double> place(const Correspondence& analysis, const MatrixFile& rows) {
    const Decomposition& d = analysis.decomposition;
    require_columns(rows, d.cols, "columns");
    const auto prepare = [&](Index number, std::vector<double>& row) {
        const double sum = std::accumulate(row.begin(), row.end(), 0.0);
        if (!(sum > 0))
            throw Error("{}, {}: it sums to 0, so that it has no profile", rows.name(), row_name(rows, number));
        for (double& count : row) count /= sum;
    };
    return multiply_rows(rows, {.rule = Analysis::correspondence,
                                .columns = d.cols,
                                .dimensions = analysis.dimensions,
                                .factors = analysis.columns.standard,
                                .prepare = prepare});
}

}  // namespace tesela::mds
