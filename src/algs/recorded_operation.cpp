#include "tesela/algs/recorded_operation.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/lu.hpp"
#include "tesela/dist/families.hpp"

namespace tesela {
namespace {

void submit_factorization(Stream& s, Operation operation, const Tiling& tiling, const Distribution& owners) {
    const Stored stored = operation == Operation::cholesky ? Stored::lower : Stored::full;
    const Matrix<double> A(s, tiling, owners, {.name = "A", .stored = stored});
    fill(s, A.view(), {});
    if (operation == Operation::cholesky)
        cholesky(s, A);
    else
        lu(s, A);
}

void submit_product(Stream& s, const Tiling& tiling, const Distribution& owners) {
    const Matrix<double> A(s, tiling, owners, {.name = "A"});
    const Matrix<double> B(s, tiling, owners, {.name = "B"});
    const Matrix<double> C(s, tiling, owners, {.name = "C"});
    fill(s, A.view(), {});
    fill(s, B.view(), {});
    gemm(s, A.view(), B.view(), C.view());
}

}  // namespace

RecordedOperation::RecordedOperation(Operation operation, const OperationSize& size) {
    RecordingEngine engine(size.nodes);
    const Tiling tiling = Tiling::square(size.tiles * size.tile, size.tile);
    const Distribution owners = block_cyclic(tiling.grid(), {.p = 1, .q = 1});
    {
        Stream s(engine);
        if (operation == Operation::product)
            submit_product(s, tiling, owners);
        else
            submit_factorization(s, operation, tiling, owners);
    }
    recording_ = engine.take();
}

Transfers RecordedOperation::transfers(const Distribution& distribution) const {
    std::map<std::string, Distribution> distributions;
    for (const auto& matrix : recording_.matrices) distributions.emplace(matrix, distribution);
    return count_transfers(recording_, distributions);
}

}  // namespace tesela
