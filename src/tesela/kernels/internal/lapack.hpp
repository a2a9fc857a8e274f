#pragma once

// LAPACK's functions by their names in Fortran, and how they are called. Private to src/tesela/kernels and to tests: a
// program may have declared them in its own way.

#include <algorithm>
#include <cstddef>
#include <vector>

extern "C" {
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void dgesdd_(const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*,
             const int*, double*, const int*, int*, int*);
void sgesdd_(const char*, const int*, const int*, float*, const int*, float*, float*, const int*, float*, const int*,
             float*, const int*, int*, int*);
void dgesvd_(const char*, const char*, const int*, const int*, double*, const int*, double*, double*, const int*,
             double*, const int*, double*, const int*, int*);
void sgesvd_(const char*, const char*, const int*, const int*, float*, const int*, float*, float*, const int*, float*,
             const int*, float*, const int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void dlauum_(const char*, const int*, double*, const int*, int*);
void slauum_(const char*, const int*, float*, const int*, int*);
void dormtr_(const char*, const char*, const char*, const int*, const int*, double*, const int*, const double*, double*,
             const int*, double*, const int*, int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void spotrf_(const char*, const int*, float*, const int*, int*);
void dpotri_(const char*, const int*, double*, const int*, int*);
void spotri_(const char*, const int*, float*, const int*, int*);
void dstemr_(const char*, const char*, const int*, double*, double*, const double*, const double*, const int*,
             const int*, int*, double*, double*, const int*, const int*, int*, int*, double*, const int*, int*,
             const int*, int*);
void dsteqr_(const char*, const int*, double*, double*, double*, const int*, double*, int*);
void dsterf_(const int*, double*, double*, int*);
void dsytrd_(const char*, const int*, double*, const int*, double*, double*, double*, double*, const int*, int*);
void dtrtri_(const char*, const char*, const int*, double*, const int*, int*);
void strtri_(const char*, const char*, const int*, float*, const int*, int*);
}

namespace tesela::lapack {

/// Calls a function of LAPACK twice: for the size of its workspace, and with it.
template <class T, class Function>
void with_workspace(Function function) {
    T best = 0;
    int size = -1;
    function(&best, &size);
    size = std::max(1, static_cast<int>(best));
    std::vector<T> work(static_cast<std::size_t>(size));
    function(work.data(), &size);
}

}  // namespace tesela::lapack
