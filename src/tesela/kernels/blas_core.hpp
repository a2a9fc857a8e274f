#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tesela {

/// What a processor and its operating system have of what OpenBLAS's kernels need.
struct ProcessorFeatures {
    bool avx = false;
    bool avx2 = false;
    bool fma = false;
    bool avx512 = false;   ///< F, CD, BW, DQ and VL: all that a Skylake-X has
    bool armv8_2 = false;  ///< CRC32, atomics, RDM and dot products of arm64: what a Neoverse N1 has
};
[[nodiscard]] ProcessorFeatures this_processor();

/// The core type, as OPENBLAS_CORETYPE takes it, whose kernels are faster than those in use and need nothing that the
/// processor lacks. None unless the core in use is one that OpenBLAS falls back to: a choice among newer ones is its
/// own.
[[nodiscard]] std::optional<std::string> better_blas_core(std::string_view in_use, const ProcessorFeatures& processor);

/// Which kernels of OpenBLAS this process uses, and how that came about.
struct BlasCore {
    std::string in_use;  ///< in OpenBLAS's words: Haswell, SkylakeX, neoversen1, …; of others their name
    std::optional<std::string> better{};          ///< what would fit the processor better
    std::optional<std::string> asked_for{};       ///< OPENBLAS_CORETYPE
    std::optional<std::string> before_restart{};  ///< what OpenBLAS took before the program started itself once more
    /// With one, OPENBLAS_CORETYPE has no effect.
    enum class Kernels : std::uint8_t { many, one } built = Kernels::many;

    /// What to set OPENBLAS_CORETYPE to and start again with: once, and never against the user's own setting.
    [[nodiscard]] std::optional<std::string> restart_with() const;
    /// The core that OpenBLAS took itself, where a restart replaced it.
    [[nodiscard]] std::optional<std::string> replaced() const;
    /// What is wrong with the kernels in use and what to do about it, if anything is.
    [[nodiscard]] std::optional<std::string> warning() const;
};
[[nodiscard]] BlasCore this_blas_core();

/// Where OpenBLAS took kernels for a much older processor, starts this program once more, with the same arguments and
/// with OPENBLAS_CORETYPE set to one that fits: OpenBLAS reads that while it is loaded, so setting it is too late.
/// Returns if there is nothing to gain or the program cannot be started; the engine then warns of the kernels it has.
/// To be called first in main: no thread, MPI or output may precede it.
void restart_with_better_blas();

/// The variable that tells a program started again which core OpenBLAS took before; where it is set none starts again.
inline constexpr const char* blas_restart_variable = "TESELA_BLAS_CORE_BEFORE";

}  // namespace tesela
