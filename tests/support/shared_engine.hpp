#pragma once

// Tests on StarPU share one engine, since starting it takes longer than most of them.

#include "support/seed.hpp"

#include "tesela/kernels/blas_core.hpp"
#include "tesela/net/nodes.hpp"
#include "tesela/starpu/engine.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tesela::testing {

inline std::unique_ptr<StarpuEngine>& engine_slot() {
    static std::unique_ptr<StarpuEngine> engine;
    return engine;
}
inline StarpuEngine& engine() { return *engine_slot(); }

/// The shared engine replaced by another while it lives.
class WithEngine {
public:
    explicit WithEngine(StarpuOptions options) {
        options.warnings = Warnings::keep;
        replace(options);
    }
    ~WithEngine() { replace({.workers = 2, .warnings = Warnings::keep}); }
    WithEngine(const WithEngine&) = delete;
    WithEngine& operator=(const WithEngine&) = delete;
    WithEngine(WithEngine&&) = delete;
    WithEngine& operator=(WithEngine&&) = delete;

private:
    static void replace(const StarpuOptions& options) {
        engine_slot().reset();
        engine_slot() = std::make_unique<StarpuEngine>(options);
    }
};

inline int run_with_engine(int argc, char** argv) {
    restart_with_better_blas();
    ::testing::InitGoogleTest(&argc, argv);
    engine_slot() = std::make_unique<StarpuEngine>(
        StarpuOptions{.workers = started_in_parallel() ? 0 : 2, .warnings = Warnings::keep});
    seed_slot() = engine().broadcast(seed());  // every node must draw the same cases
    announce_seed("max_success=40");
    if (!engine().is_first())
        delete ::testing::UnitTest::GetInstance()->listeners().Release(
            ::testing::UnitTest::GetInstance()->listeners().default_result_printer());
    const int result = RUN_ALL_TESTS();
    engine_slot().reset();
    return result;
}

}  // namespace tesela::testing
