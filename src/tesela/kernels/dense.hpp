#pragma once

#include "tesela/kernels/blas_core.hpp"
#include "tesela/kernels/kernel.hpp"

#include <cstdint>

namespace tesela {

enum class Side : std::uint8_t { left, right };
enum class Triangle : std::uint8_t { lower, upper };
enum class Diagonal : std::uint8_t { general, unit };

[[nodiscard]] constexpr Triangle flip(Triangle t) { return t == Triangle::lower ? Triangle::upper : Triangle::lower; }

/// Arguments of the kernels below, in the words of BLAS. `first_row` is the global index of the tile's first row, for
/// naming a bad pivot.
struct PivotArguments {
    Index first_row = 0;
};
struct GemmArguments {
    Op op_a = Op::none;
    Op op_b = Op::none;
    double alpha = 1;
    double beta = 1;
};
struct SyrkArguments {
    Triangle triangle = Triangle::lower;
    Op op = Op::none;
    double alpha = 1;
    double beta = 1;
};
struct TriangularArguments {
    Side side = Side::left;
    Triangle triangle = Triangle::lower;
    Op op = Op::none;
    Diagonal diagonal = Diagonal::general;
    double alpha = 1;
};
struct GeaddArguments {
    double alpha = 1;
    double beta = 1;
};
struct LasetArguments {
    double off_diagonal = 0;
    double diagonal = 0;
};
struct ScaleArguments {
    double factor = 1;
};
/// Element (i, j), global indices, of a generated matrix; `context` is the caller's and outlives the task.
using ElementFunction = double (*)(const void* context, ElementIndex at);
struct GenerateArguments {
    ElementFunction element = nullptr;
    const void* context = nullptr;
    ElementIndex first{};
};

/// The dense kernels in single (float) and double precision. Tiles in the order given; the last one is written.
template <class T>
struct Dense {
    static const KernelOf<PivotArguments, T>
        potrf;  ///< A := L with A = L·Lᵀ, lower; fails with the first pivot that is not positive
    static const KernelOf<PivotArguments, T>
        getrf;  ///< A := L and U in one, without pivoting; fails with the first pivot that is zero
    static const KernelOf<NoArguments, T> trtri;                  ///< A := A⁻¹, lower triangular
    static const KernelOf<NoArguments, T> lauum;                  ///< A := Lᵀ·L, lower triangle
    static const KernelOf<TriangularArguments, const T, T> trsm;  ///< (A, B): B := alpha·op(A)⁻¹·B or alpha·B·op(A)⁻¹
    static const KernelOf<TriangularArguments, const T, T> trmm;  ///< (A, B): B := alpha·op(A)·B or alpha·B·op(A)
    static const KernelOf<SyrkArguments, const T, T> syrk;  ///< (A, C): C := alpha·op(A)·op(A)ᵀ + beta·C, one triangle
    static const KernelOf<GemmArguments, const T, const T, T> gemm;  ///< (A, B, C): C := alpha·op(A)·op(B) + beta·C
    static const KernelOf<GemmArguments, const T, const T, T>
        gemv;  ///< (A, x, y): y := alpha·op(A)·x + beta·y; arguments of gemm
    static const KernelOf<GeaddArguments, const T, T> geadd;      ///< (A, B): B := alpha·A + beta·B; no beta, no B
    static const KernelOf<LasetArguments, T> laset;               ///< A := constant off and on the diagonal
    static const KernelOf<ScaleArguments, T> scale;               ///< A := factor·A
    static const KernelOf<GenerateArguments, T> generate;         ///< A(i, j) := element(context, global i, global j)
    static const KernelOf<NoArguments, const T, const T, T> dot;  ///< (A, B, s): s := s + Σ A(i,j)·B(i,j), s 1×1
    static const KernelOf<NoArguments, const T, T>
        logdet;  ///< (L, s): s := s + 2·Σ log L(i,i), s 1×1: log-determinant of L·Lᵀ
};

extern template struct Dense<float>;
extern template struct Dense<double>;

/// Sets the number of threads that BLAS may use inside one call (1 inside workers), and returns what it was.
int set_blas_threads(int threads);
/// Takes the working memory of BLAS for so many threads that call it at a time, before there is none left for it: a
/// call without it may never end. Throws Error if there is none now.
void reserve_blas_memory(int callers);
/// Name, version, threading and kernels of the BLAS in use, for start-up lines.
struct BlasDescription {
    const char* configuration;
    int threads;
    enum class Threading : std::uint8_t { own, openmp } threading;  ///< whose threads the library uses
    BlasCore core;
};
[[nodiscard]] BlasDescription describe_blas();

}  // namespace tesela
