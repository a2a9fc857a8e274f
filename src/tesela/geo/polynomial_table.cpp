#include "tesela/geo/polynomial_table.hpp"

#include "tesela/kernels/loops.hpp"

namespace tesela {

static_assert(PolynomialTable::batch == loops::batch);

bool PolynomialTable::evaluate(const double* x, std::size_t count, double factor, double* const* out) const noexcept {
    return loops::functions().evaluate({.coefficients = polynomials_.front().coefficients.data(),
                                        .polynomials = functions_,
                                        .even_from = even_from_,
                                        .begin = begin(),
                                        .end = end_},
                                       x, count, factor, out);
}

void PolynomialTable::add(double centre, const std::vector<Polynomial>& polynomials) {
    polynomials_.insert(polynomials_.end(), polynomials.begin(), polynomials.end());
    end_ = centre;
}

}  // namespace tesela
