#pragma once

// The loops that take time and are not BLAS's. Private to src/tesela/kernels.

#include <cstddef>

/// One source, loops/loops.cpp, is compiled once for each level of vector instructions; each has a table of its
/// functions, and all give the same digits to the last bit: nothing is fused or reordered but by the source.
namespace tesela::loops {

/// Arguments that are looked up together.
inline constexpr std::size_t batch = 256;

/// Points by coordinate, and one that they are seen from.
struct View {
    std::size_t dimensions;  ///< 1 to 3
    const double* points[3];
    double origin[3];
};

/// A table of polynomials of degree 7 about centres, several to a piece, each in a line of the cache;
/// internal/pieces.hpp says where the pieces are.
struct Pieces {
    const double* coefficients;
    std::size_t polynomials;  ///< to a piece
    double even_from;         ///< pieces have equal widths from here on
    double begin, end;        ///< of the arguments
};

struct Moments {
    double first, second;
};

struct Functions {
    /// out[i] = factor times the distance of point i from the origin.
    void (*distances)(const View& view, double factor, std::size_t n, double* out);
    /// out[p][i] = factor·polynomial p at x[i], of at most `batch` arguments. Whether the table has them all; those
    /// that it has not are taken for its nearest.
    bool (*evaluate)(const Pieces& table, const double* x, std::size_t n, double factor, double* const* out);
    /// out[i] = factor·e^(-x[i]), to less than a unit in the last place; 0 where it is below the smallest normal
    /// number. `out` may be x.
    void (*exponentials)(const double* x, std::size_t n, double factor, double* out);
    /// y[i] += factor·x[i]
    void (*add)(double factor, const double* x, std::size_t n, double* y);
    /// Σ x[i]·y[i], in an order that follows from n alone.
    double (*dot)(const double* x, const double* y, std::size_t n);
    /// Σ w[i]·x[i] and Σ w[i]·x[i]², likewise.
    Moments (*moments)(const double* w, const double* x, std::size_t n);
    /// Σ x[i]², likewise, in double.
    double (*squares)(const double* x, std::size_t n);
    double (*squares_of_singles)(const float* x, std::size_t n);
};

/// Of the level in use.
[[nodiscard]] const Functions& functions() noexcept;

namespace baseline {
extern const Functions functions;
}
namespace v3 {
extern const Functions functions;
}
namespace v4 {
extern const Functions functions;
}

}  // namespace tesela::loops
