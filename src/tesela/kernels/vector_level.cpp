#include "tesela/kernels/vector_level.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/kernels/blas_core.hpp"
#include "tesela/kernels/loops.hpp"

#include <algorithm>
#include <atomic>

namespace tesela {
namespace {

VectorLevel highest() {
    const ProcessorFeatures has = this_processor();
    if (!has.avx2 || !has.fma) return VectorLevel::baseline;
    return has.avx512 ? VectorLevel::v4 : VectorLevel::v3;
}

VectorLevel first_choice() {
    VectorLevel level = highest();
    const auto limit = environment(vector_level_variable);
    for (const auto& [named, text] : vector_level_names)
        if (limit == text) level = std::min(level, named);
    return level;
}

std::atomic<VectorLevel>& in_use() noexcept {
    static std::atomic<VectorLevel> level = first_choice();
    return level;
}

}  // namespace

std::vector<VectorLevel> vector_levels() {
    std::vector<VectorLevel> levels;
    for (const auto& [level, text] : vector_level_names)
        if (level <= highest()) levels.push_back(level);
    return levels;
}

VectorLevel vector_level() noexcept { return in_use().load(std::memory_order_relaxed); }

void use_vector_level(VectorLevel level) {
    if (level > highest())
        throw Error("this processor has no {}, only {}", name_in(vector_level_names, level),
                    name_in(vector_level_names, highest()));
    in_use().store(level, std::memory_order_relaxed);
}

void validate_vector_level_variable() {
    if (const auto asked = environment(vector_level_variable))
        (void)parse_name(vector_level_names, *asked, "level of vector instructions for TESELA_VECTORS");
}

namespace loops {

const Functions& functions() noexcept {
#if defined(__x86_64__)
    switch (vector_level()) {
        case VectorLevel::v4: return v4::functions;
        case VectorLevel::v3: return v3::functions;
        case VectorLevel::baseline: break;
    }
#endif
    return baseline::functions;
}

}  // namespace loops
}  // namespace tesela
