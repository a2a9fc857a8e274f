#include "support/shared_engine.hpp"

int main(int argc, char** argv) { return tesela::testing::run_with_engine(argc, argv); }
