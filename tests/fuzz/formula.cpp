// Feeds bytes to the reader of trends' formulas and makes the model matrix of what it accepts. Only tesela::Error may
// come out.

#include "require.hpp"
#include "tesela/base/error.hpp"
#include "tesela/geo/trend.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace tesela;  // NOLINT(google-build-using-namespace): a program
using fuzz::require;

/// Nine places, with a number and a text under every name that the formula uses beside x: whichever the first letter
/// says.
geo::Observations observations_for(const geo::TrendFormula& formula) {
    const std::vector<double> x{0, 1, 2, 3, 4, 5, 6, 7, 8};
    geo::Observations result{.coordinates = {x},
                             .values = {3, 1, 4, 1, 5, 9, 2, 6, 5},
                             .coordinate_names = {"x"},
                             .value_name = formula.response()};
    for (const std::string& name : geo::covariate_names(formula, {"x"})) {
        if (name.front() < 'm')
            result.covariates.push_back({name, std::vector<double>{2, 7, 1, 8, 2, 8, 1, 8, 2}});
        else
            result.covariates.push_back({name, std::vector<std::string>{"a", "b", "a", "c", "b", "a", "a", "b", "c"}});
    }
    return result;
}

void use(const geo::TrendFormula& formula) {
    require(geo::TrendFormula::parse(formula.text()) == formula, "a formula that is written reads back the same");
    const geo::Observations data = observations_for(formula);
    const geo::TrendDesign design(formula, data);
    const geo::SmallMatrix X = design.matrix(data.sites());
    require(X.rows == 9 && X.cols == static_cast<Index>(design.names().size()), "every coefficient has a column");
    for (const double value : X.values) require(std::isfinite(value), "elements are finite");
    const geo::TrendBasis basis(formula, data);
    require(basis.size() == design.size(), "no column is left out unasked");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        use(geo::TrendFormula::parse(std::string_view(reinterpret_cast<const char*>(data), size)));
    } catch (const Error&) {
        // What a wrong formula must end in.
    }
    return 0;
}
