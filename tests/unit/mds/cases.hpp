#pragma once

// Matrices that the tests of multidimensional scaling, principal components and correspondence analysis share.

#include "tesela/base/random.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/io/csv_matrix.hpp"
#include "tesela/io/memory_matrix.hpp"
#include "tesela/mds/decomposition.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tesela::testing {

inline std::unique_ptr<MatrixFile> matrix_of(const std::string& name) {
    return read_csv_matrix(std::string(TESELA_DATA_DIR) + "/" + name);
}

/// Columns one after the other, from an element's function.
template <class Element>
std::unique_ptr<MatrixFile> made_matrix(Index rows, Index cols, Element element) {
    MatrixValues values{.rows = rows, .cols = cols, .values = {}, .row_labels = {}, .col_labels = {}};
    for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) values.values.push_back(element(i, j));
    return memory_matrix(std::move(values), "made");
}

/// Normal numbers of a seed.
inline std::unique_ptr<MatrixFile> random_points(Index rows, Index cols, std::uint64_t seed) {
    const Random random(seed);
    return made_matrix(rows, cols, [&](Index i, Index j) {
        return random.normal({.i = static_cast<std::uint64_t>(i), .j = static_cast<std::uint64_t>(j)});
    });
}

/// Σ_k (x(i, k) - x(j, k))², of points x dimensions.
inline double distance_between(const std::vector<double>& x, Index points, Index i, Index j) {
    double sum = 0;
    for (Index at = 0; at < static_cast<Index>(x.size()); at += points)
        sum += std::pow(x[static_cast<std::size_t>(at + i)] - x[static_cast<std::size_t>(at + j)], 2);
    return std::sqrt(sum);
}

/// Decompositions by one algorithm or the other, each in a stream of its own.
inline mds::Decomposition by_lapack(Engine& engine, const MatrixFile& file, mds::Analysis analysis,
                                    mds::DecompositionOptions options) {
    Stream stream(engine, {.sums = Sums::in_order});
    options.algorithm = mds::Algorithm::exact;
    return mds::decompose(stream, file, analysis, options);
}
inline mds::Decomposition by_products(Engine& engine, const MatrixFile& file, mds::Analysis analysis,
                                      mds::DecompositionOptions options) {
    Stream stream(engine, {.sums = Sums::in_order});
    if (options.algorithm != mds::Algorithm::power) options.algorithm = mds::Algorithm::krylov;
    return mds::decompose(stream, file, analysis, options);
}

}  // namespace tesela::testing
