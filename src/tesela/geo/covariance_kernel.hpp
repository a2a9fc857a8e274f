#pragma once

#include "tesela/geo/covariance.hpp"
#include "tesela/kernels/kernel.hpp"

namespace tesela {

/// Arguments of a kernel that writes a tile of a covariance matrix; what they point to outlives the task. `first` is
/// the global row and column of the tile's first element: numbers of observations in `rows` and `cols`.
struct CovarianceArguments {
    const Covariance* covariance = nullptr;
    const PointSet* rows = nullptr;
    const PointSet* cols = nullptr;
    ElementIndex first{};
    ObservationSets sets = ObservationSets::different;
};

/// "dcmg" of paper 000: (K): K(i, j) := the covariance of observations i and j.
using CovarianceKernel = KernelOf<CovarianceArguments, double>;
extern const CovarianceKernel covariance_kernel;

/// (X, Y): Y := Y + K·X, K the covariances of observations as `covariance_kernel` has them, of which none are stored.
extern const KernelOf<CovarianceArguments, const double, double> covariance_product_kernel;

/// (A, s): s(j) := s(j) + Σ_i A(i, j)², s one column with as many rows as A has columns.
extern const KernelOf<NoArguments, const double, double> column_squares_kernel;

}  // namespace tesela
