#pragma once

#include "tesela/geo/covariance_kernel.hpp"

namespace tesela::bench {

/// The covariances of one tile with GSL's K_nu, as most programs compute them; has the name of Tesela's own, since it
/// takes its place. Only where has_gsl(), and while there are GslErrorsOff.
extern const CovarianceKernel gsl_kernel;

}  // namespace tesela::bench
