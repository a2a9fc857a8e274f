#include "tesela/algs/generated_product.hpp"

#include "tesela/algs/multiply.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"

#include <cmath>
#include <cstdint>

namespace tesela {
namespace {

/// Y += K·X for the elements K from `first` on.
KernelResult add_product(const GenerateArguments& K, StoredTile<const double> X, StoredTile<double> Y) noexcept {
    ElementIndex at = K.first;
    try {
        for (Index j = 0; j < X.rows(); ++j)
            for (Index i = 0; i < Y.rows(); ++i) {
                at = {K.first.i + i, K.first.j + j};
                const double element = K.element(K.context, at);
                for (Index c = 0; c < Y.cols(); ++c) Y(i, c) += element * X(j, c);
            }
    } catch (...) {
        return fail("the function that generates the elements threw an exception, in the row of this index", at.i);
    }
    return {};
}

KernelCost cost_of_product(std::span<const TileShape> shapes, const void*) noexcept {
    const auto rows = static_cast<double>(shapes[1].rows);
    const auto inner = static_cast<double>(shapes[0].rows);
    const auto columns = static_cast<double>(shapes[0].cols);
    return {2 * rows * inner * columns, sizeof(double) * (inner + 2 * rows) * columns};
}

const auto product_kernel = make_kernel<add_product>("dgenmm", cost_of_product);

double length_of(Stream& s, const MatrixView<double>& x, const Scalar<double>& sum) {
    dot(s, x, x, sum.view());
    return std::sqrt(gather(s, sum.view()).front());
}

/// y := alpha·x + beta·y; without beta y need not have been written.
void add(Stream& s, const GeaddArguments& how, const Matrix<double>& x, const Matrix<double>& y) {
    for (Index i = 0; i < x.tile_rows(); ++i)
        s.submit(how.beta == 0 ? Task(Dense<double>::geadd, how, read(x(i, 0)), write(y(i, 0)))
                               : Task(Dense<double>::geadd, how, read(x(i, 0)), read_write(y(i, 0))));
}

}  // namespace

void multiply_generated(Stream& s, const Elements& A, const MatrixView<double>& X, const MatrixView<double>& Y) {
    if (X.tile_cols() != 1 || Y.tile_cols() != 1 || X.tile_rows() != Y.tile_rows() || X.cols(0) != Y.cols(0))
        throw Error("a generated matrix is multiplied with {} into {}: they must be one tile wide and cut alike",
                    X.matrix().name(), Y.matrix().name());
    fill(s, Y, {});
    for (Index i = 0; i < Y.tile_rows(); ++i)
        for (Index j = 0; j < X.tile_rows(); ++j)
            s.submit(Task(product_kernel, GenerateArguments{A.function, A.context, {Y.row_begin(i), X.row_begin(j)}},
                          read(X(j, 0)), read_write(Y(i, 0))));
}

double factor_residual(Stream& s, const SymmetricProduct& A, const MatrixView<double>& L, int iterations) {
    const auto phase = s.phase("residual");
    const Attachment& factor = L.matrix();
    const auto column = [&](const char* name) {
        return Matrix<double>(s, factor.tiling().with_columns(1, 1), along_diagonal(factor.distribution(), 1),
                              {.name = name});
    };
    const Matrix<double> x = column("x");
    const Matrix<double> y = column("y");
    const Matrix<double> z = column("z");
    const Matrix<double> r = column("r");
    const Scalar<double> sum(s);
    generate(s, x.view(), [](Index i, Index) { return Random(7).normal({static_cast<std::uint64_t>(i)}); });
    const MatrixView<double> lower = L.as(Part::lower);
    double norm = 0;
    for (int k = 0; k < iterations; ++k) {
        const double length = length_of(s, x.view(), sum);
        A(x.view(), r.view());
        multiply_triangular(s, lower.transposed(), x.view(), y.view());
        multiply_triangular(s, lower, y.view(), z.view());
        add(s, {.alpha = -1, .beta = 1}, z, r);
        norm = length_of(s, r.view(), sum) / length;
        if (!(norm > 0)) break;
        add(s, {.alpha = 1 / (norm * length), .beta = 0}, r, x);
    }
    require_done(s.wait());
    return norm;
}

}  // namespace tesela
