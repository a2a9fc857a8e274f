#pragma once

// LAPACK's routines by their names in Fortran, for what Tesela is compared with.

extern "C" {
void dpotrf_(const char*, const int*, double*, const int*, int*);
void spotrf_(const char*, const int*, float*, const int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void sgetrf_(const int*, const int*, float*, const int*, int*, int*);
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void sgeqrf_(const int*, const int*, float*, const int*, float*, float*, const int*, int*);
}
