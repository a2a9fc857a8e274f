#pragma once

// The loops that take time and are not BLAS's. Not installed: for kernels here and in applications.

#include <cstddef>

/// One source, loops/loops.cpp, is compiled once for each level of vector instructions; each has a table of its
/// functions, and all give the same digits to the last bit: nothing is fused or reordered but by the source.
namespace tesela::loops {

/// Arguments that are looked up together.
inline constexpr std::size_t batch = 256;

/// Points by coordinate, and one that they are seen from.
struct View {
    std::size_t dimensions;
    const double* const* points;
    const double* origin;
};

/// A table of polynomials of degree 7 about centres, several to a piece, each in a line of the cache;
/// geo/internal/polynomials.hpp says where the pieces are.
struct Pieces {
    const double* coefficients;
    std::size_t polynomials;  ///< to a piece
    double even_from;         ///< pieces have equal widths from here on
    double begin, end;        ///< of the arguments
};

struct Moments {
    double first, second;
};

/// A column h of a matrix, factors of its rows, and what is added to it: u·first + v·second.
struct Bordered {
    const double *h, *factors, *u, *v;
    double first, second;
};

struct Functions {
    /// out[i] = factor times the distance of point i from the origin.
    void (*distances)(const View& view, double factor, std::size_t n, double* out);
    /// x[i] = factor times the arc over a chord x[i] >= 0 of a circle; over one longer than the diameter, half the
    /// circle.
    void (*arcs)(double diameter, double factor, std::size_t n, double* x);
    /// out[p][i] = factor·polynomial p at x[i], of at most `batch` arguments. Whether the table has them all; those
    /// that it has not are taken for its nearest.
    bool (*evaluate)(const Pieces& table, const double* x, std::size_t n, double factor, double* const* out);
    /// out[i] = factor·e^(-x[i]) for x >= 0, as exact as libm's; 0 where e^-x is below the smallest normal number.
    /// `out` may be x.
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
    /// out[i] = -½·x[i]². `out` may be x.
    void (*half_squares)(const double* x, std::size_t n, double* out);
    /// Σ (factors[i]·(h[i] + u[i]·first + v[i]·second))², in an order that follows from n alone.
    double (*bordered_squares)(const Bordered& column, std::size_t n);
    /// Of rho = e^-u: u[i] becomes factor·u·rho, logarithms[i] becomes -u·logarithms·rho. u may be infinite.
    void (*decline)(double factor, const double* rho, std::size_t n, double* u, double* logarithms);
    /// out[i] = Σ factors[k]·x[k][i]
    void (*combine)(const double (&factors)[3], const double* const (&x)[3], std::size_t n, double* out);
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
