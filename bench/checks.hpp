#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace tesela::bench {

/// A bar and whether it is met, {"bar", "value", "limit", "met"}: what `checks` of a benchmark's results holds, and
/// decides its exit code.
[[nodiscard]] inline nlohmann::ordered_json check(const std::string& bar, double value, double limit, bool met) {
    return {{"bar", bar}, {"value", value}, {"limit", limit}, {"met", met}};
}
[[nodiscard]] inline nlohmann::ordered_json at_most(const std::string& bar, double value, double limit) {
    return check(bar, value, limit, value <= limit);
}
[[nodiscard]] inline nlohmann::ordered_json at_least(const std::string& bar, double value, double limit) {
    return check(bar, value, limit, value >= limit);
}
[[nodiscard]] inline nlohmann::ordered_json above(const std::string& bar, double value, double limit) {
    return check(bar, value, limit, value > limit);
}

}  // namespace tesela::bench
