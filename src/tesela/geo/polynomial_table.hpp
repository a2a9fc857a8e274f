#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace tesela {

/// Some functions of x > 0 as polynomials of degree 7, piece by piece: immutable once it is made, so threads may share
/// it.
class PolynomialTable {
public:
    /// Coefficients of powers of x - centre: one cache line.
    struct alignas(64) Polynomial {
        std::array<double, 8> coefficients{};
    };
    /// `functions` polynomials to a piece; from `even_from`, a power of two, pieces have equal widths.
    explicit PolynomialTable(std::size_t functions = 1, double even_from = 2)
        : functions_(functions),
          even_from_(even_from) {}

    /// Arguments that it has.
    [[nodiscard]] static constexpr double begin() { return 0x1p-34; }
    [[nodiscard]] double end() const { return end_; }
    [[nodiscard]] bool has(double x) const { return x >= begin() && x <= end_; }
    [[nodiscard]] std::size_t bytes() const { return polynomials_.size() * sizeof(Polynomial); }

    /// Most arguments that are looked up at a time.
    static constexpr std::size_t batch = 256;
    /// out[f][i] = factor times function f of x[i], for at most `batch` arguments; bit for bit the same whatever stands
    /// beside it. Whether it has them all: where it has not, out is to be set by the caller.
    bool evaluate(const double* x, std::size_t count, double factor, double* const* out) const noexcept;

    /// The next piece, about this centre.
    void add(double centre, const std::vector<Polynomial>& polynomials);
    [[nodiscard]] double even_from() const { return even_from_; }

private:
    std::size_t functions_;
    double even_from_;
    double end_ = 0;
    std::vector<Polynomial> polynomials_;
};

}  // namespace tesela
