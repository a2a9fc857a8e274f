#include "tesela/kernels/blas_core.hpp"
#include "tesela/kernels/dense.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tesela::blas_core_test {
namespace {

using ::testing::HasSubstr;

constexpr ProcessorFeatures nothing{};
constexpr ProcessorFeatures avx{.avx = true};
constexpr ProcessorFeatures avx2_without_fma{.avx = true, .avx2 = true};
constexpr ProcessorFeatures avx2{.avx = true, .avx2 = true, .fma = true};
constexpr ProcessorFeatures avx512{.avx = true, .avx2 = true, .fma = true, .avx512 = true};
constexpr ProcessorFeatures avx512_alone{.avx = true, .avx512 = true};
constexpr ProcessorFeatures armv8_2{.armv8_2 = true};

struct Decision {
    const char* in_use;
    ProcessorFeatures processor;
    std::optional<std::string> better;
};

TEST(BlasCore, IsBetterOnlyWhereOpenBlasFellBack) {
    const std::vector<Decision> decisions{
        {"Prescott", nothing, {}},
        {"Prescott", avx, "Sandybridge"},
        {"Prescott", avx2_without_fma, "Sandybridge"},
        {"Prescott", avx2, "Haswell"},
        {"Prescott", avx512, "SkylakeX"},
        {"Prescott", avx512_alone, "Sandybridge"},
        {"Nehalem", avx2, "Haswell"},
        {"Core2", avx512, "SkylakeX"},
        {"Barcelona", avx, "Sandybridge"},
        {"Opteron_SSE3", avx2, "Haswell"},
        {"Northwood", avx2, "Haswell"},
        {"prescott", avx2, "Haswell"},
        {"Sandybridge", nothing, {}},
        {"Sandybridge", avx, {}},
        {"Sandybridge", avx2, "Haswell"},
        {"Sandybridge", avx512, "SkylakeX"},
        // Chosen by OpenBLAS for a processor that it knows.
        {"Haswell", avx512, {}},
        {"Zen", avx512, {}},
        {"Excavator", avx2, {}},
        {"SkylakeX", avx512, {}},
        {"Cooperlake", avx512, {}},
        {"SapphireRapids", avx512, {}},
        {"a core to come", avx512, {}},
        {"armv8", nothing, {}},
        {"armv8", armv8_2, "NEOVERSEN1"},
        {"ARMV8", armv8_2, "NEOVERSEN1"},
        {"armv8sve", armv8_2, {}},
        {"neoversen1", armv8_2, {}},
        {"cortexa57", armv8_2, {}},
        {"Prescott", armv8_2, {}},
    };
    for (const Decision& d : decisions)
        EXPECT_EQ(better_blas_core(d.in_use, d.processor), d.better) << d.in_use << " -> " << d.better.value_or("none");
}

TEST(BlasCore, AfterTheChoiceThereIsNothingBetter) {
    for (const ProcessorFeatures& processor : {nothing, avx, avx2_without_fma, avx2, avx512, avx512_alone, armv8_2})
        for (const char* core : {"Prescott", "Nehalem", "Sandybridge", "armv8"})
            if (const auto better = better_blas_core(core, processor)) {
                EXPECT_EQ(better_blas_core(*better, processor), std::nullopt) << core;
            }
}

TEST(BlasCore, ARestartIsWantedOnceAndNotAgainstTheUser) {
    const BlasCore fell_back{.in_use = "Prescott", .better = "SkylakeX"};
    EXPECT_EQ(fell_back.restart_with(), "SkylakeX");
    BlasCore other = fell_back;
    other.asked_for = "Prescott";
    EXPECT_EQ(other.restart_with(), std::nullopt);
    other = fell_back;
    other.before_restart = "Prescott";
    EXPECT_EQ(other.restart_with(), std::nullopt);
    other = fell_back;
    other.built = BlasCore::Kernels::one;
    EXPECT_EQ(other.restart_with(), std::nullopt);
    EXPECT_EQ((BlasCore{.in_use = "Haswell"}).restart_with(), std::nullopt);
}

TEST(BlasCore, TellsWhatWasReplaced) {
    BlasCore core{.in_use = "SkylakeX", .asked_for = "SkylakeX", .before_restart = "Prescott"};
    EXPECT_EQ(core.replaced(), "Prescott");
    EXPECT_EQ(core.warning(), std::nullopt);
    core.in_use = "Haswell";  // another than was asked for, and still a better one
    EXPECT_EQ(core.replaced(), "Prescott");
    core.in_use = "Prescott";
    EXPECT_EQ(core.replaced(), std::nullopt);
    EXPECT_EQ((BlasCore{.in_use = "Haswell", .asked_for = "Haswell"}).replaced(), std::nullopt);
    EXPECT_EQ((BlasCore{.in_use = "Haswell", .before_restart = "Prescott"}).replaced(), std::nullopt);
}

TEST(BlasCore, AWarningSaysWhatToDo) {
    BlasCore core{.in_use = "Prescott", .better = "SkylakeX"};
    EXPECT_THAT(core.warning().value(), HasSubstr("OPENBLAS_CORETYPE=SkylakeX, set before the program starts"));
    core.asked_for = "prescott";
    EXPECT_THAT(core.warning().value(), HasSubstr("as OPENBLAS_CORETYPE=prescott says: those for SkylakeX"));
    core.asked_for = "SkylakeX";
    core.before_restart = "Prescott";
    EXPECT_THAT(core.warning().value(), HasSubstr("although OPENBLAS_CORETYPE=SkylakeX was chosen"));
    core.built = BlasCore::Kernels::one;
    EXPECT_THAT(core.warning().value(), HasSubstr("DYNAMIC_ARCH"));
    EXPECT_EQ((BlasCore{.in_use = "Prescott"}).warning(), std::nullopt);
}

TEST(BlasCore, OfThisProcessIsTheOneThatOpenBlasNames) {
    const BlasDescription blas = describe_blas();
    if (blas.core.built == BlasCore::Kernels::many) {
        EXPECT_THAT(blas.configuration, HasSubstr(blas.core.in_use));
    }
    EXPECT_EQ(blas.core.better, better_blas_core(blas.core.in_use, this_processor()));
}

}  // namespace
}  // namespace tesela::blas_core_test
