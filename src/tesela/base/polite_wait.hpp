#pragma once

#include <algorithm>
#include <ctime>

namespace tesela {

/// Sleeps between looks at something that nobody will wake us for: shortly at first, then longer.
class PoliteWait {
public:
    void rest() {
        const timespec moment{.tv_sec = 0, .tv_nsec = nanoseconds_};
        nanosleep(&moment, nullptr);
        nanoseconds_ = std::min(nanoseconds_ * 5 / 4, longest);
    }

private:
    static constexpr long longest = 400'000;
    long nanoseconds_ = 10'000;
};

}  // namespace tesela
