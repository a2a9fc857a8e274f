#pragma once

#include <string>

namespace tesela::blas {

/// The BLAS that this process has loaded. Which it is shows at run time: its own functions are looked for, and none is
/// needed, so that a program takes any BLAS that the system puts behind the name of the one it was linked with.
enum class Library { openblas, blis, mkl, other };
[[nodiscard]] Library library();

/// Of OpenBLAS the name of the kernels in use; of others the library's name.
[[nodiscard]] std::string core();
/// Of OpenBLAS its version and options; of others the library's name.
[[nodiscard]] const char* configuration();

/// Threads inside a call; 1 where the library has none or does not say.
[[nodiscard]] int threads();
void set_threads(int threads);
/// Whether those are OpenMP's.
[[nodiscard]] bool threads_are_openmp();

/// Has the library take the working memory that so many threads need at a time, which it keeps; false if the system has
/// none. OpenBLAS otherwise takes it in the first calls, and where there is none it tries for ever.
[[nodiscard]] bool reserve_memory(int callers);

}  // namespace tesela::blas
