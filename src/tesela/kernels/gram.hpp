#pragma once

#include "tesela/kernels/kernel.hpp"

namespace tesela {

/// Arguments of a kernel that reads a tile of a matrix from somewhere: `source` is the reader's own and outlives the
/// task, `first` the global row and column of the tile's first element.
struct ReadArguments {
    const void* source = nullptr;
    ElementIndex first{};
};

/// (D): D := what the source has there.
using ReadKernel = KernelOf<ReadArguments, double>;

/// "dread", with the bytes of its tile as its cost and nothing to read from: for engines without data, which record or
/// simulate. Applications that have files bring kernels of their own, under the same name.
extern const ReadKernel read_without_file;

/// Gram matrix and product of multidimensional scaling, paper 000, equations (3) to (10). The sums of squares SR², SC²
/// and SO² of the paper are s and o here; D is symmetric, so that its rows and columns have the same ones.
struct SquareArguments {
    double coefficient = -0.5;  ///< c
};
/// "dgram", (D, s): s(i) := s(i) + Σ_j D(i, j)², then D(i, j) := c·D(i, j)² (5), s one column.
extern const KernelOf<SquareArguments, double, double> square_kernel;

struct CentreArguments {
    double coefficient = -0.5;  ///< c
    double order = 1;           ///< n, of the matrix
};
/// "dcentre", (s, o, w, v, X): X(i, j) := X(i, j) + c·((o/n² - s(i)/n)·w(j) - v(j)/n), s, w and v one column, o 1×1.
/// With the column sums of Ω as w and Ωᵀ·s as v this is (9), and with ones and s, as of Ω = I, it is (10).
extern const KernelOf<CentreArguments, const double, const double, const double, const double, double> centre_kernel;

}  // namespace tesela
