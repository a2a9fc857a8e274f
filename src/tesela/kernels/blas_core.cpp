#include "tesela/kernels/blas_core.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/kernels/internal/blas_library.hpp"

#include <fmt/format.h>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <array>
#include <cctype>

namespace tesela {
namespace {

/// OpenBLAS writes Prescott on x86-64 and armv8 or ARMV8 on arm64, by version.
bool same_core(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b,
                              [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Cores older than AVX. Before 0.3.20 OpenBLAS takes Prescott for every model that it does not know; up to 0.3.24 also
/// for Intel's models from 0xB0 on (Raptor Lake, Emerald Rapids, …), which it mistakes for a Pentium 4.
constexpr std::array<std::string_view, 17> before_avx{
    "Prescott", "Core2",  "Nehalem",      "Barcelona", "Penryn", "Dunnington", "Atom",    "Nano",     "Opteron",
    "Bobcat",   "Athlon", "Opteron_SSE3", "Katmai",    "Banias", "Coppermine", "Unknown", "Northwood"};

bool is_before_avx(std::string_view core) {
    return std::ranges::any_of(before_avx, [&](std::string_view old) { return same_core(old, core); });
}

}  // namespace

ProcessorFeatures this_processor() {
    ProcessorFeatures has;
#if defined(__x86_64__)
    // These ask for what the operating system saves of the registers, too.
    __builtin_cpu_init();
    has.avx = __builtin_cpu_supports("avx") != 0;
    has.avx2 = __builtin_cpu_supports("avx2") != 0;
    has.fma = __builtin_cpu_supports("fma") != 0;
    has.avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
                 __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                 __builtin_cpu_supports("avx512vl") != 0;
#elif defined(__aarch64__) && defined(__linux__)
    constexpr unsigned long needed = HWCAP_CRC32 | HWCAP_ATOMICS | HWCAP_ASIMDRDM | HWCAP_ASIMDDP;
    has.armv8_2 = (getauxval(AT_HWCAP) & needed) == needed;
#endif
    return has;
}

std::optional<std::string> better_blas_core(std::string_view in_use, const ProcessorFeatures& processor) {
    // Not the SVE cores, which also ask for ARMv8.4: LAPACK's tests fail with those of 0.3.21 (OpenBLAS issue 4187),
    // and later releases take them by themselves.
    if (same_core(in_use, "armv8") && processor.armv8_2) return "NEOVERSEN1";
    const bool old = is_before_avx(in_use);
    if (!old && !same_core(in_use, "Sandybridge")) return std::nullopt;
    const bool haswell = processor.avx && processor.avx2 && processor.fma;
    // Cooperlake and SapphireRapids differ from SkylakeX in half precision only, and older releases do not know them.
    if (haswell && processor.avx512) return "SkylakeX";
    if (haswell) return "Haswell";
    if (old && processor.avx) return "Sandybridge";
    return std::nullopt;
}

std::optional<std::string> BlasCore::restart_with() const {
    if (built == Kernels::one || asked_for || before_restart) return std::nullopt;
    return better;
}

std::optional<std::string> BlasCore::replaced() const {
    const bool changed = before_restart && asked_for && !same_core(*before_restart, in_use);
    return changed ? before_restart : std::nullopt;
}

std::optional<std::string> BlasCore::warning() const {
    if (!better) return std::nullopt;
    const char* gain = same_core(in_use, "armv8") ? "faster" : "several times as fast";
    if (built == Kernels::one)
        return fmt::format(
            "this OpenBLAS has kernels for {} alone: one that was built with DYNAMIC_ARCH may be {} on this processor",
            in_use, gain);
    if (before_restart && asked_for)
        return fmt::format(
            "BLAS uses its kernels for {} although OPENBLAS_CORETYPE={} was chosen for this processor: a newer "
            "OpenBLAS may know it and be {}",
            in_use, *asked_for, gain);
    if (asked_for)
        return fmt::format(
            "BLAS uses its kernels for {}, as OPENBLAS_CORETYPE={} says: those for {}, which this processor can run, "
            "may be {}",
            in_use, *asked_for, *better, gain);
    return fmt::format(
        "BLAS did not recognise this processor and uses its kernels for {}: OPENBLAS_CORETYPE={}, set before the "
        "program starts, may make it {}",
        in_use, *better, gain);
}

BlasCore this_blas_core() {
    const std::string core = blas::core();
    // Other libraries than OpenBLAS choose well.
    if (blas::library() != blas::Library::openblas) return {.in_use = core, .built = BlasCore::Kernels::one};
    const bool many = std::string_view(blas::configuration()).find("DYNAMIC_ARCH") != std::string_view::npos;
    return {.in_use = core,
            .better = better_blas_core(core, this_processor()),
            .asked_for = environment("OPENBLAS_CORETYPE"),
            .before_restart = environment(blas_restart_variable),
            .built = many ? BlasCore::Kernels::many : BlasCore::Kernels::one};
}

}  // namespace tesela
