#include "tesela/starpu/internal/without_papi.hpp"

#include "tesela/base/environment.hpp"

#include <dlfcn.h>

#include <atomic>

namespace {

std::atomic<bool> left_out{false};

/// What the library itself has under this name; null where the program has no such library.
template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

constexpr int papi_ok = 0;
constexpr int papi_not_supported = -18;  // PAPI_ENOSUPP

}  // namespace

// A program's own functions come before those of the libraries that it loads, also for calls between these. At all
// other times they do what PAPI's do.
extern "C" {

[[gnu::visibility("default")]] int PAPI_library_init(int version) {
    if (left_out) return version;
    auto* const real = next<int(int)>("PAPI_library_init");
    return real == nullptr ? papi_not_supported : real(version);
}

[[gnu::visibility("default")]] int PAPI_thread_init(unsigned long (*this_thread)()) {
    if (left_out) return papi_ok;
    auto* const real = next<int(unsigned long (*)())>("PAPI_thread_init");
    return real == nullptr ? papi_not_supported : real(this_thread);
}
}

namespace tesela::starpu {

WithoutPapi::WithoutPapi() { left_out = !environment("STARPU_PROF_PAPI_EVENTS"); }
WithoutPapi::~WithoutPapi() { left_out = false; }

}  // namespace tesela::starpu
