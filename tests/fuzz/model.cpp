// Feeds bytes to the reader of fitted models and evaluates the covariances of what it accepts. Only tesela::Error may
// come out.

#include "require.hpp"
#include "tesela/base/error.hpp"
#include "tesela/geo/model_file.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace {

using namespace tesela;  // NOLINT(google-build-using-namespace): a program
using fuzz::require;

std::string written(const geo::FittedModel& fitted) { return geo::to_json(fitted).dump(); }

/// As prediction does. Points that the metric does not have are its Error.
void evaluate(const geo::FittedModel& fitted) {
    const PointSet points(fitted.model.metric, fitted.observations.coordinates);
    const Covariance covariance(fitted.model.family, fitted.result.theta, fitted.model.metric, points.diameter_bound());
    for (Index i = 0; i < points.size(); ++i) (void)covariance(distance(points, 0, points, i));
}

std::optional<geo::FittedModel> parse(const std::string& text) {
    try {
        return geo::parse_model(text, "fuzz");
    } catch (const Error&) {
        return std::nullopt;  // What a damaged file must end in.
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto fitted = parse(std::string(reinterpret_cast<const char*>(data), size));
    if (!fitted) return 0;
    const std::string text = written(*fitted);
    require(written(geo::parse_model(text, "fuzz")) == text, "a model that is written reads back the same");
    try {
        evaluate(*fitted);
    } catch (const Error&) {
        // Points that the metric does not have.
    }
    return 0;
}
