#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tesela::trace {

/// Hardware counters of the calling thread through PAPI.
class HardwareCounters {
public:
    static constexpr std::size_t most = 4;
    using Values = std::array<std::int64_t, most>;

    /// Up to four counters, "PAPI_TOT_CYC,PAPI_TOT_INS". Throws Error where this build, the machine or its settings do
    /// not give them.
    explicit HardwareCounters(const std::string& names);

    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// What the counters of this thread show; they start when a thread first asks. Zeros where a thread cannot count.
    [[nodiscard]] Values read() const noexcept;

private:
    std::vector<std::string> names_;
    std::vector<int> codes_;
};

}  // namespace tesela::trace
