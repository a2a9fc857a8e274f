#include "shared/bessel.hpp"

#include "tesela/base/error.hpp"

namespace tesela::bench {

bool has_gsl() { return false; }
double gsl_bessel_k(double, double) { throw Error("this tesela-bench was built without GSL"); }
GslErrorsOff::GslErrorsOff() = default;
GslErrorsOff::~GslErrorsOff() = default;

}  // namespace tesela::bench
