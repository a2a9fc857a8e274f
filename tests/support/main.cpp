// GoogleTest's main, with the seed of this run.

#include "support/seed.hpp"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    tesela::testing::announce_seed();
    return RUN_ALL_TESTS();
}
