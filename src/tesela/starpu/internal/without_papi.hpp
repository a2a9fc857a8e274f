#pragma once

namespace tesela::starpu {

/// While it lives, the hardware counters of PAPI are not started. StarPU 1.4 as Debian 13 builds it starts them
/// whenever it starts itself, although it counts only what STARPU_PROF_PAPI_EVENTS names (with that variable this does
/// nothing), and has no switch for it; with PAPI 7.1 such a start ended by a segmentation fault now and then.
class WithoutPapi {
public:
    WithoutPapi();
    ~WithoutPapi();
    WithoutPapi(const WithoutPapi&) = delete;
    WithoutPapi& operator=(const WithoutPapi&) = delete;
    WithoutPapi(WithoutPapi&&) = delete;
    WithoutPapi& operator=(WithoutPapi&&) = delete;
};

}  // namespace tesela::starpu
