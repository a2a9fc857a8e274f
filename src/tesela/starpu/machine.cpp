#include "tesela/starpu/internal/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

namespace tesela::starpu {
namespace {

/// A number from a file of the kernel; `otherwise` if there is none ("max" means no limit).
double number_in(const char* path, double otherwise) {
    std::ifstream file(path);
    double value = 0;
    return file >> value ? value : otherwise;
}

double memory_available_to_kernel() {
    std::ifstream file("/proc/meminfo");
    std::string field;
    double kibibytes = 0;
    std::string unit;
    while (file >> field >> kibibytes) {
        std::getline(file, unit);
        if (field == "MemAvailable:") return kibibytes * 1024;
    }
    return std::numeric_limits<double>::infinity();
}

}  // namespace

int count_cores(const std::vector<int>& processors, const std::string& folder) {
    std::set<std::string> cores;
    for (const int processor : processors) {
        const std::string number = std::to_string(processor);
        std::ifstream file(folder + "/cpu" + number + "/topology/thread_siblings_list");
        std::string siblings;
        cores.insert(std::getline(file, siblings) ? siblings : number);
    }
    return static_cast<int>(cores.size());
}

Cores find_cores() {
    const std::string folder = "/sys/devices/system/cpu";
    std::vector<int> all(static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))));
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> mine;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
        for (int processor = 0; processor < CPU_SETSIZE; ++processor)
            if (CPU_ISSET(static_cast<std::size_t>(processor), &mask)) mine.push_back(processor);
    Cores cores{.machine = count_cores(all, folder)};
    for (const int processor : mine) cores.mask += std::to_string(processor) + ' ';
    cores.usable = mine.empty() ? cores.machine : count_cores(mine, folder);
    cores.threads_per_core = std::max(1, static_cast<int>(all.size()) / cores.machine);
    return cores;
}

std::vector<int> visible_gpus() {
    std::ptrdiff_t count = 0;
    if (const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES")) {
        const std::string_view list = chosen;
        count =
            list.empty() || list == "-1" || list == "NoDevFiles" ? 0 : 1 + std::count(list.begin(), list.end(), ',');
    } else {
        std::error_code none;
        for (const auto& device : std::filesystem::directory_iterator("/dev", none)) {
            const std::string name = device.path().filename().string();
            const bool numbered = name.size() > 6 && std::all_of(name.begin() + 6, name.end(),
                                                                 [](char c) { return c >= '0' && c <= '9'; });
            if (name.starts_with("nvidia") && numbered) ++count;
        }
    }
    std::vector<int> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

double available_memory() {
    const double none = std::numeric_limits<double>::infinity();
    const double limit = number_in("/sys/fs/cgroup/memory.max", none) - number_in("/sys/fs/cgroup/memory.current", 0);
    return std::min(memory_available_to_kernel(), limit);
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

void set_default(const char* variable, const char* value) { setenv(variable, value, 0); }

}  // namespace tesela::starpu
