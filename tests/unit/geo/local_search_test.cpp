#include "tesela/geo/internal/local_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tesela::geo::local_search_test {
namespace {

constexpr std::array optimizers{Optimizer::bobyqa, Optimizer::lbfgs, Optimizer::scoring};

/// A hill with its top at (1, −0.5), whose axes are not those of the variables, and a cliff where x > 2.
struct Hill {
    Index asked = 0;
    bool has_cliff = false;
    SearchPoint operator()(const std::vector<double>& at, Wanted wanted) {
        ++asked;
        SearchPoint point{.logs = at};
        if (has_cliff && at[0] > 2) return point;
        const double x = at[0] - 1;
        const double y = at[1] + 0.5;
        // −cosh grows faster than a parabola, so that the information at one point does not tell all.
        const double u = x + 0.5 * y;
        point.log_likelihood = -10 * std::cosh(u) - 3 * y * y;
        if (wanted == Wanted::value) return point;
        point.slope = {-10 * std::sinh(u), -5 * std::sinh(u) - 6 * y};
        if (wanted == Wanted::slope) return point;
        point.information = SmallMatrix(2, 2);
        point.information(0, 0) = 10 * std::cosh(u);
        point.information(0, 1) = point.information(1, 0) = 5 * std::cosh(u);
        point.information(1, 1) = 2.5 * std::cosh(u) + 6;
        return point;
    }
};

SearchPoint climbed(Optimizer optimizer, Hill& hill, const SearchBox& box, const std::vector<double>& from) {
    const Ask ask = [&](const std::vector<double>& at, Wanted wanted) { return hill(at, wanted); };
    return climb(optimizer, ask, box, hill(from, Wanted::value), 1e-5);
}

const SearchBox wide{{-5, -5}, {5, 5}, {0.5, 0.5}};

TEST(Climb, EndsAtTheTop) {
    for (const Optimizer optimizer : optimizers) {
        Hill hill;
        const SearchPoint top = climbed(optimizer, hill, wide, {-2, 3});
        EXPECT_NEAR(top.logs[0], 1, 1e-3) << name_in(optimizer_names, optimizer);
        EXPECT_NEAR(top.logs[1], -0.5, 1e-3) << name_in(optimizer_names, optimizer);
        EXPECT_NEAR(top.log_likelihood, -10, 1e-6);
        EXPECT_LE(hill.asked, optimizer == Optimizer::bobyqa ? 80 : 25) << name_in(optimizer_names, optimizer);
    }
}

TEST(Climb, StaysInItsBoxAndEndsWhereNoSlopeLeadsFurther) {
    const SearchBox narrow{{-5, 0.25}, {5, 5}, {0.5, 0.5}};
    for (const Optimizer optimizer : optimizers) {
        Hill hill;
        SearchPoint top = climbed(optimizer, hill, narrow, {-2, 3});
        EXPECT_NEAR(top.logs[1], 0.25, 1e-4) << name_in(optimizer_names, optimizer);
        EXPECT_NEAR(top.logs[0], 1 - 0.375, 1e-3) << name_in(optimizer_names, optimizer);
        top = hill({0.625, 0.25}, Wanted::slope);
        EXPECT_NEAR(free_slope(top, narrow), 0, 1e-9);
        EXPECT_GT(free_slope(top, wide), 1);
    }
}

TEST(Climb, LeavesAVariableWithEqualBoundsWhereItIs) {
    const SearchBox frozen{{-5, 2}, {5, 2}, {0.5, 0.5}};
    for (const Optimizer optimizer : optimizers) {
        Hill hill;
        const SearchPoint top = climbed(optimizer, hill, frozen, {-2, 2});
        EXPECT_EQ(top.logs[1], 2) << name_in(optimizer_names, optimizer);
        EXPECT_NEAR(top.logs[0], 1 - 1.25, 1e-3) << name_in(optimizer_names, optimizer);
    }
}

TEST(Climb, GoesRoundPlacesWithoutALikelihood) {
    for (const Optimizer optimizer : optimizers) {
        Hill hill{.has_cliff = true};
        SearchPoint top = climbed(optimizer, hill, wide, {1.9, 4});
        // Scoring gives up soon; a fit then goes on by slopes.
        if (optimizer == Optimizer::scoring) top = climbed(Optimizer::lbfgs, hill, wide, top.logs);
        EXPECT_NEAR(top.logs[0], 1, 1e-2) << name_in(optimizer_names, optimizer);
    }
}

TEST(Climb, LetsThroughWhatIsThrown) {
    for (const Optimizer optimizer : optimizers) {
        Hill hill;
        const Ask ask = [&](const std::vector<double>& at, Wanted wanted) {
            if (hill.asked == 3) throw std::runtime_error("enough");
            return hill(at, wanted);
        };
        EXPECT_THROW((void)climb(optimizer, ask, wide, hill({-2, 3}, Wanted::value), 1e-5), std::runtime_error);
    }
}

}  // namespace
}  // namespace tesela::geo::local_search_test
