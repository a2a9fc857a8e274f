#include "tesela/kernels/internal/blas_library.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <vector>

// Weak: null where the library that is loaded has no such function.
extern "C" {
[[gnu::weak]] char* openblas_get_corename();
[[gnu::weak]] char* openblas_get_config();
[[gnu::weak]] int openblas_get_num_threads();
[[gnu::weak]] void openblas_set_num_threads(int threads);
[[gnu::weak]] int openblas_get_parallel();
[[gnu::weak]] void* blas_memory_alloc(int place);
[[gnu::weak]] void blas_memory_free(void* buffer);
[[gnu::weak]] long bli_thread_get_num_threads();
[[gnu::weak]] void bli_thread_set_num_threads(long threads);
[[gnu::weak]] int MKL_Get_Max_Threads();
[[gnu::weak]] void MKL_Set_Num_Threads(int threads);
}

namespace tesela::blas {

// The others first: where one of them was chosen, LAPACK may still bring the system's BLAS along, which is often
// OpenBLAS.
Library library() {
    if (bli_thread_set_num_threads != nullptr) return Library::blis;
    if (MKL_Set_Num_Threads != nullptr) return Library::mkl;
    if (openblas_get_config != nullptr && openblas_set_num_threads != nullptr) return Library::openblas;
    return Library::other;
}

const char* configuration() {
    switch (library()) {
        case Library::openblas: return openblas_get_config();
        case Library::blis: return "BLIS";
        case Library::mkl: return "MKL";
        case Library::other: break;
    }
    return "reference";
}

std::string core() {
    return library() == Library::openblas && openblas_get_corename != nullptr ? openblas_get_corename()
                                                                              : configuration();
}

int threads() {
    switch (library()) {
        case Library::openblas: return openblas_get_num_threads();
        case Library::blis: {
            // -1: not set, which means one.
            const long set = bli_thread_get_num_threads == nullptr ? 1 : bli_thread_get_num_threads();
            return set < 1 ? 1 : static_cast<int>(set);
        }
        case Library::mkl: return MKL_Get_Max_Threads == nullptr ? 1 : MKL_Get_Max_Threads();
        case Library::other: break;
    }
    return 1;
}

void set_threads(int threads) {
    switch (library()) {
        case Library::openblas: return openblas_set_num_threads(threads);
        case Library::blis: return bli_thread_set_num_threads(threads);
        case Library::mkl: return MKL_Set_Num_Threads(threads);
        case Library::other: return;
    }
}

bool threads_are_openmp() {
    constexpr int openmp = 2;
    return library() == Library::openblas && openblas_get_parallel != nullptr && openblas_get_parallel() == openmp;
}

namespace {

/// Bytes of address space that this process has.
std::size_t address_space() {
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    file >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

bool system_gives(std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED && munmap(memory, bytes) == 0;
}

}  // namespace

bool reserve_memory(int callers) {
    static int reserved = 0;
    if (library() != Library::openblas || blas_memory_alloc == nullptr || blas_memory_free == nullptr) return true;
    constexpr std::size_t mebibyte = 1 << 20;
    std::size_t buffer = 128 * mebibyte;  // the largest on processors that we know, until the first one tells
    std::vector<void*> held;
    while (static_cast<int>(held.size()) < callers && reserved < callers && system_gives(buffer + mebibyte)) {
        const std::size_t before = address_space();
        held.push_back(blas_memory_alloc(1));
        if (const std::size_t now = address_space(); now > before) buffer = now - before;
    }
    for (void* const taken : held) blas_memory_free(taken);
    if (static_cast<int>(held.size()) == callers) reserved = callers;
    return reserved >= callers;
}

}  // namespace tesela::blas
