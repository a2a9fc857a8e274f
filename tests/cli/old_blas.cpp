// Preloaded, it makes OpenBLAS look like one that does not recognise the processor and takes its oldest kernels, so
// that the command's restart can be tested on any machine. OLD_BLAS chooses: "" until OPENBLAS_CORETYPE is set; "deaf"
// whatever is set; "single" as built without DYNAMIC_ARCH. Each start of a program adds a line to the file
// $OLD_BLAS_STARTS.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

char* real(const char* function) {
    using Function = char* (*)();
    const auto call = reinterpret_cast<Function>(dlsym(RTLD_NEXT, function));
    return call == nullptr ? nullptr : call();
}

bool is(const char* kind) {
    const char* chosen = std::getenv("OLD_BLAS");
    return chosen != nullptr && std::strcmp(chosen, kind) == 0;
}

#if defined(__aarch64__)
char oldest[] = "armv8";
#else
char oldest[] = "Prescott";
#endif
char plain[] = "OpenBLAS 0.3.0 Prescott SINGLE_THREADED";

[[gnu::constructor]] void count_start() {
    const char* path = std::getenv("OLD_BLAS_STARTS");
    if (path == nullptr) return;
    if (std::FILE* file = std::fopen(path, "a")) {
        std::fputs("start\n", file);
        std::fclose(file);
    }
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] char* openblas_get_corename() {
    if (std::getenv("OPENBLAS_CORETYPE") == nullptr || is("deaf") || is("single")) return oldest;
    return real("openblas_get_corename");
}
[[gnu::visibility("default")]] char* openblas_get_config() {
    return is("single") ? plain : real("openblas_get_config");
}
}
