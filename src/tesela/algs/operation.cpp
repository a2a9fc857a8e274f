#include "tesela/algs/operation.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/lu.hpp"
#include "tesela/algs/qr.hpp"

namespace tesela {
namespace {

/// A matrix that the caller has filled.
MatrixOptions given(const char* name, Stored stored = Stored::full) {
    return {.name = name, .stored = stored, .memory = [](TileIndex) { return TileMemory{}; }};
}

}  // namespace

void run_operation(Stream& stream, Operation operation, const Tiling& tiling, const Distribution& owners,
                   const FactorOptions& options) {
    const Matrix<double> A(stream, tiling, owners,
                           given(operation_matrix, operation == Operation::cholesky ? Stored::lower : Stored::full));
    switch (operation) {
        case Operation::cholesky: cholesky(stream, A, options); break;
        case Operation::lu: lu(stream, A, options); break;
        case Operation::product: {
            const Matrix<double> B(stream, tiling, owners, given("B"));
            const Matrix<double> C(stream, tiling, owners, {.name = "C"});
            gemm(stream, A, B, C);
            return require_done(stream.wait());
        }
    }
    require_done(stream.wait());
}

void run_qr(Stream& stream, const Tiling& tiling, const Distribution& owners) {
    const Matrix<double> A(stream, tiling, owners, given(operation_matrix));
    const QrFactors<double> factors = qr<double>(stream, A);
    require_done(stream.wait());
}

}  // namespace tesela
