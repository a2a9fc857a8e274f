#include "tesela/algs/operation.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/lu.hpp"

namespace tesela {
namespace {

/// A matrix that the caller has filled.
MatrixOptions given(const char* name, Stored stored = Stored::full) {
    return {.name = name, .stored = stored, .memory = [](TileIndex) { return TileMemory{}; }};
}

}  // namespace

void run_operation(Stream& stream, Operation operation, const Tiling& tiling, const Distribution& owners) {
    const Matrix<double> A(stream, tiling, owners,
                           given("A", operation == Operation::cholesky ? Stored::lower : Stored::full));
    switch (operation) {
        case Operation::cholesky: cholesky(stream, A); break;
        case Operation::lu: lu(stream, A); break;
        case Operation::product: {
            const Matrix<double> B(stream, tiling, owners, given("B"));
            const Matrix<double> C(stream, tiling, owners, {.name = "C"});
            gemm(stream, A.view(), B.view(), C.view());
            stream.wait();
            break;
        }
    }
    stream.wait();
}

}  // namespace tesela
