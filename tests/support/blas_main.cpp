// For tests that use BLAS: GoogleTest's main, with the seed of this run and kernels that fit the processor. OpenBLAS's
// oldest crash for some sizes (spotri of odd orders beyond 132, Prescott, 0.3.21).

#include "support/seed.hpp"

#include "tesela/kernels/blas_core.hpp"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
    tesela::restart_with_better_blas();
    ::testing::InitGoogleTest(&argc, argv);
    tesela::testing::announce_seed();
    return RUN_ALL_TESTS();
}
