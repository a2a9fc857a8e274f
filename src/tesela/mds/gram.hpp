#pragma once

#include "tesela/kernels/kernel.hpp"

#include <cstdint>

namespace tesela {

// Work on a matrix F that is read by panels and analysed: with H made of its elements, A = diag(l)·(H + U·Vᵀ)·diag(r),
// where U and V have two columns and follow, as l and r do, from sums over F. Multidimensional scaling of distances D
// (paper 000, (3) to (10)), principal components and correspondence analysis are of this form.

/// What H has in place of an element f of F: f less a number of its column, or -½·f² (5), without the corrections.
enum class ElementRule : std::uint8_t { shifted, half_squares };

/// Arguments of a kernel that reads from somewhere: `source` is the reader's own and outlives the task, `first` the
/// global row and column of the first element.
struct ReadArguments {
    const void* source = nullptr;
    ElementIndex first{};
};

/// (P): rows of F, each of them a column of P, which is how row-major files have them. Or, where there are no panels,
/// (F): a tile of F.
template <class T>
using PanelKernel = KernelOf<ReadArguments, T>;
using ReadKernel = PanelKernel<double>;

/// "dread", with the bytes of its tile as its cost and nothing to read from: for engines without data, which record or
/// simulate. Applications that have files bring kernels of their own, under the same name.
extern const ReadKernel read_without_file;

struct TakeArguments {
    ElementRule rule = ElementRule::shifted;
    Index first = 0;                ///< of the panel's rows, the first that belongs to the tile
    const double* shift = nullptr;  ///< of ElementRule::shifted, by column of the tile; none: 0
};
/// "dtake", (P, H): H := what becomes of a part of a panel (copypaneltotile of paper 000), in single or double
/// precision.
extern const KernelOf<TakeArguments, const float, double> take_single_kernel;
extern const KernelOf<TakeArguments, const double, double> take_double_kernel;

struct GramArguments {
    ElementRule rule = ElementRule::shifted;
};
/// "dgram", (X, y, s), (X, x, t) and (X, x, y, s, t): X := H where the rule is half squares, then s := s + H·y and
/// t := t + [Hᵀ·x, (H∘H)ᵀ·x], of as many columns as t has, one or two. x and y are weights of rows and columns.
extern const KernelOf<GramArguments, double, const double, double> gram_rows_kernel;
extern const KernelOf<GramArguments, double, const double, double> gram_cols_kernel;
extern const KernelOf<GramArguments, double, const double, const double, double, double> gram_both_kernel;

/// What U, V, l and r are made of.
enum class BorderRule : std::uint8_t {
    none,              ///< A is F
    distances,         ///< from weighted means of H: U = [1, o - s], V = [-s, 1], l = r = 1 or √weight (3)
    means,             ///< V = -(column means), U = 1, l = 1 or √weight, r = 1
    means_deviations,  ///< the same, r = 1/deviation
    masses,            ///< from sums R and C of rows and columns, N of all: U = R, V = -C/N, l = 1/√R, r = 1/√C
};
/// Whether U and l, of the rows, or V and r, of the columns, are made.
enum class BorderSide : std::uint8_t { rows, cols };
/// Whether the weights are masses of the points that also scale A.
enum class Weighted : std::uint8_t { no, yes };

struct BorderArguments {
    BorderRule rule = BorderRule::distances;
    BorderSide side = BorderSide::rows;
    Weighted weighted = Weighted::no;
    double degrees_of_freedom = 1;  ///< of a variance, over the sum of weights
};
/// "dborders", (s, o, x, B, f): B := U or V and f := l or r, of sums s (of one or two columns), o of all and weights x.
extern const KernelOf<BorderArguments, const double, const double, const double, double, double> border_kernel;

struct CentreArguments {
    Op op = Op::none;
};
/// "dcentre", (U, W, X): X := X + U·op(W), U of two columns: (9) of a product and (10) of a tile.
extern const KernelOf<CentreArguments, const double, const double, double> centre_kernel;

/// "dscalerows", (f, X): X := diag(f)·X.
extern const KernelOf<NoArguments, const double, double> scale_rows_kernel;

/// "dgemmtwice", (H, X, Z, Y, W): Y := Y + H·X and W := W + Hᵀ·Z, reading H once: both products of a tile below the
/// diagonal of a symmetric matrix.
extern const KernelOf<NoArguments, const double, const double, const double, double, double> both_products_kernel;

struct SquaresArguments {
    double times = 1;   ///< 2 for tiles that stand for another one too
    double border = 1;  ///< 0 where U·Vᵀ is part of H
};
/// "dsquares", (H, U, l, V, r, o): o := o + times·Σ (l(i)·(H(i, j) + border·U(i, :)·V(j, :))·r(j))².
extern const KernelOf<SquaresArguments, const double, const double, const double, const double, const double, double>
    squares_kernel;

}  // namespace tesela
