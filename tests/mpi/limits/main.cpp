// Tests that need engines of their own: with little memory, or few tags.

#include "tesela/base/environment.hpp"
#include "tesela/kernels/blas_core.hpp"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
    tesela::restart_with_better_blas();
    ::testing::InitGoogleTest(&argc, argv);
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    if (tesela::rank_by_launcher().value_or("0") != "0") delete listeners.Release(listeners.default_result_printer());
    return RUN_ALL_TESTS();
}
