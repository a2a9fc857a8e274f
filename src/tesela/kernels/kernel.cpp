#include "tesela/kernels/kernel.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <dlfcn.h>

namespace tesela {
namespace {

bool same(const Kernel& a, const Kernel& b) {
    return a.cost == b.cost && a.cpu == b.cpu && a.cuda == b.cuda && a.use == b.use &&
           a.low_rank_flops == b.low_rank_flops && a.recompression == b.recompression &&
           std::strcmp(a.name, b.name) == 0;
}

/// Whether an object lies in the program or a library, and so stays where it is.
bool is_static(const Kernel& kernel) {
    Dl_info where;
    return dladdr(&kernel, &where) != 0;
}

/// Copies of kernels that may go, by name; what is in it stays where it is.
class Kept {
public:
    const Kernel& of(const Kernel& kernel) {
        const std::lock_guard lock(mutex_);
        const auto [named, is_new] = by_name_.try_emplace(kernel.name);
        for (const Kernel& kept : named->second)
            if (same(kept, kernel)) return kept;
        Kernel& kept = named->second.emplace_back(kernel);
        kept.name = named->first.c_str();
        return kept;
    }

private:
    std::mutex mutex_;
    std::unordered_map<std::string, std::deque<Kernel>> by_name_;
};

struct Known {
    const Kernel* given = nullptr;
    const Kernel* kept = nullptr;
};

const Kernel& look_up(const Kernel& kernel) {
    static Kept& all = *new Kept;  // tasks may outlive static objects
    thread_local std::unordered_map<const Kernel*, const Kernel*> known;
    const Kernel*& kept = known[&kernel];
    if (kept == nullptr || (kept != &kernel && !same(*kept, kernel)))
        kept = is_static(kernel) ? &kernel : &all.of(kernel);
    return *kept;
}

}  // namespace

const Kernel& kept_kernel(const Kernel& kernel) {
    // Most tasks are of kernels that their thread has just used; an object at the same address may be another one.
    thread_local std::array<Known, 64> recent;
    Known& here = recent[reinterpret_cast<std::uintptr_t>(&kernel) / alignof(Kernel) % recent.size()];
    if (here.given != &kernel || (here.kept != &kernel && !same(*here.kept, kernel)))
        here = {&kernel, &look_up(kernel)};
    return *here.kept;
}

}  // namespace tesela
