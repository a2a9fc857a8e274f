#pragma once

namespace tesela::bench {

/// Whether this program was built with GSL; without it there is nothing to compare with.
[[nodiscard]] bool has_gsl();

/// GSL's K_nu(x), for x > 0. Throws Error where there is no GSL.
[[nodiscard]] double gsl_bessel_k(double nu, double x);

/// Underflow is no error while one of these lives.
class GslErrorsOff {
public:
    GslErrorsOff();
    ~GslErrorsOff();
    GslErrorsOff(const GslErrorsOff&) = delete;
    GslErrorsOff& operator=(const GslErrorsOff&) = delete;
    GslErrorsOff(GslErrorsOff&&) = delete;
    GslErrorsOff& operator=(GslErrorsOff&&) = delete;

private:
    void (*handler_)(const char*, const char*, int, int) = nullptr;
};

}  // namespace tesela::bench
