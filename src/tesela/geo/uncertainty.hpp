#pragma once

#include "tesela/geo/fit.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tesela::geo {

/// What standard errors are computed from: the expected (Fisher) information, the observed one (minus the second
/// derivatives of the log-likelihood), or average information, which takes the place of both where there
/// are many observations and is of order n² only.
enum class InformationKind : std::uint8_t { expected, observed, average };
inline constexpr Names<InformationKind, 3> information_names{{{InformationKind::expected, "expected"},
                                                              {InformationKind::observed, "observed"},
                                                              {InformationKind::average, "average"}}};

/// An end that is not there is one that the data do not give: the likelihood is still high enough at the bound, or
/// falls only because another parameter came to its own.
struct Interval {
    std::optional<double> lower{};
    std::optional<double> upper{};
};

/// How sure a fit is of one parameter.
struct ParameterUncertainty {
    double standard_error = 0;      ///< on the natural scale
    double log_standard_error = 0;  ///< of the parameter's logarithm: the former over the estimate
    Interval natural{};             ///< estimate ± z·standard_error, which may reach below 0
    Interval logarithmic{};         ///< estimate·exp(± z·log_standard_error)
};

/// The interval to show: that of the logarithm; where the error is larger than the estimate a logarithm says nothing,
/// and 0 is as good.
[[nodiscard]] Interval shown_interval(const ParameterUncertainty& known);

struct Uncertainty {
    InformationKind information = InformationKind::expected;
    double level = 0.95;
    /// By parameter; none for one that is fixed, ended at a bound or does not belong to the family, and for all where
    /// `missing` says why.
    std::array<std::optional<ParameterUncertainty>, all_parameters.size()> parameters{};
    /// Of the estimates of those parameters; 0 elsewhere.
    SmallMatrix correlation{};
    std::string missing{};
};

/// Standard errors and intervals of a fit's parameters, from the inverse of the information on those that are free and
/// did not end at a bound. Every node calls it; leaves the likelihood evaluated at the estimate.
[[nodiscard]] Uncertainty uncertainty(Likelihood& likelihood, const FitResult& result,
                                      InformationKind information = InformationKind::expected, double level = 0.95);

/// Values of a parameter at which the likelihood, maximised in all others, is not below that of the fit by more than a
/// likelihood-ratio test of this level accepts: 2·(ℓ − ℓ(value)) ≤ z².
struct ProfileInterval {
    Interval interval{};
    Index evaluations = 0;
    /// By how much some value was more likely than the fit: 0 where it is the maximum.
    double above_fit = 0;
};
struct ProfileOptions {
    double level = 0.95;
    Optimizer optimizer = Optimizer::scoring;
    /// Asked on the first node before each evaluation; true ends the search, as Interrupted.
    std::function<bool()> interrupted{};
    /// Called after each evaluation.
    std::function<void(Index evaluations)> progress{};
};
/// Thrown where a profile was interrupted.
class Interrupted : public Error {
public:
    using Error::Error;
};
/// Climbs again for every value that it tries, from the nearest one. Leaves the likelihood evaluated at the estimate.
/// Throws Error where the parameter is fixed or not one of the family.
[[nodiscard]] ProfileInterval profile_interval(Likelihood& likelihood, const FitResult& result, Parameter parameter,
                                               const ProfileOptions& options = {});

}  // namespace tesela::geo
