#include "tesela/base/usable_cores.hpp"

#include <sched.h>

namespace tesela {

std::vector<int> usable_cores() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    std::vector<int> cores;
    if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(static_cast<std::size_t>(core), &mask)) cores.push_back(core);
    return cores;
}

}  // namespace tesela
