#include "shared/bessel.hpp"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_bessel.h>

namespace tesela::bench {

bool has_gsl() { return true; }
double gsl_bessel_k(double nu, double x) { return gsl_sf_bessel_Knu(nu, x); }
GslErrorsOff::GslErrorsOff() : handler_(gsl_set_error_handler_off()) {}
GslErrorsOff::~GslErrorsOff() { gsl_set_error_handler(handler_); }

}  // namespace tesela::bench
