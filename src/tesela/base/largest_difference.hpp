#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace tesela {

/// The largest of many differences, for comparing a result with what was expected: a NaN makes it infinite for good, so
/// that no later difference hides it.
class LargestDifference {
public:
    void add(double difference) {
        const double size = std::abs(difference);
        largest_ = std::isnan(size) ? std::numeric_limits<double>::infinity() : std::max(largest_, size);
    }
    [[nodiscard]] double value() const { return largest_; }

private:
    double largest_ = 0;
};

/// The largest difference between elements at the same place; infinite where the sizes differ.
template <class T>
[[nodiscard]] double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    LargestDifference largest;
    for (std::size_t i = 0; i < a.size(); ++i) largest.add(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    return largest.value();
}

}  // namespace tesela
