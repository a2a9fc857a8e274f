#include "tesela/starpu/internal/machine.hpp"

#include "tesela/base/usable_cores.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

namespace tesela::starpu {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

/// A number from a file of the kernel; `otherwise` if there is none ("max" means no limit).
double number_in(const std::filesystem::path& path, double otherwise) {
    std::ifstream file(path);
    double value = 0;
    return file >> value ? value : otherwise;
}

/// The number after a name, from a file that has a line for each; `otherwise` if it has none.
double field_in(const std::filesystem::path& path, std::string_view name, double otherwise) {
    std::ifstream file(path);
    std::string field;
    std::string rest;
    double value = 0;
    while (file >> field >> value) {
        if (field == name) return value;
        std::getline(file, rest);
    }
    return otherwise;
}

/// Where one version of control groups keeps what it knows of memory.
struct GroupFiles {
    const char* folder;
    const char* limit;
    const char* usage;
    /// The line of memory.stat that says how much of the usage is cache of files that can go at once, with that of the
    /// groups below.
    const char* cache;
};
constexpr GroupFiles version_1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles version_2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/// The groups of this process; "/" where the kernel does not say.
struct Groups {
    std::filesystem::path version_1 = "/";
    std::filesystem::path version_2 = "/";
};

/// Lines such as "4:memory:/slurm/uid_0/job_1", and "0::/system.slice/…" for version 2. Version 1 has a tree for each
/// controller.
Groups groups_of_this_process(const std::filesystem::path& root, const std::string& controller) {
    Groups groups;
    std::ifstream file(root / "proc/self/cgroup");
    std::string number;
    std::string controllers;
    std::string path;
    while (std::getline(file, number, ':') && std::getline(file, controllers, ':') && std::getline(file, path)) {
        if (number == "0" && controllers.empty()) groups.version_2 = path;
        if ((',' + controllers + ',').find(',' + controller + ',') != std::string::npos) groups.version_1 = path;
    }
    return groups;
}

double left_in_group(const std::filesystem::path& folder, const GroupFiles& files) {
    // Version 1 writes the largest multiple of a page below 2^63 where there is no limit.
    constexpr double unlimited = 0x1p62;
    const double limit = number_in(folder / files.limit, no_limit);
    if (limit >= unlimited) return no_limit;
    const double cache = field_in(folder / "memory.stat", files.cache, 0);
    const double used = std::max(0.0, number_in(folder / files.usage, 0) - cache);
    return std::max(0.0, limit - used);
}

/// The folders of a group and of those around it. In a container the path may be that of the host, of which only the
/// last group is seen, as the top folder itself.
std::vector<std::filesystem::path> folders_of(const std::filesystem::path& top, const std::filesystem::path& path) {
    std::vector<std::filesystem::path> folders{top};
    for (auto group = path.lexically_normal().relative_path(); !group.empty(); group = group.parent_path())
        folders.push_back(top / group);
    return folders;
}

/// The least that a group and those around it leave.
GroupMemory left_in_groups(const std::filesystem::path& root, const GroupFiles& files,
                           const std::filesystem::path& path) {
    GroupMemory least{no_limit, (root / files.folder).string()};
    for (const auto& folder : folders_of(root / files.folder, path)) {
        const double left = left_in_group(folder, files);
        if (left < least.bytes) least = {left, folder.string()};
    }
    return least;
}

/// "50000 100000" of version 2, "max 100000" without a limit; version 1 has a file for each, and -1 without a limit.
double cores_of_group(const std::filesystem::path& folder) {
    double quota = number_in(folder / "cpu.cfs_quota_us", -1);
    double period = number_in(folder / "cpu.cfs_period_us", 0);
    std::ifstream file(folder / "cpu.max");
    if (double first = 0, second = 0; file >> first >> second) {
        quota = first;
        period = second;
    }
    return quota > 0 && period > 0 ? quota / period : no_limit;
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
    const std::vector<int> mine = usable_cores();
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

double memory_of_machine(const std::filesystem::path& root) {
    return field_in(root / "proc/meminfo", "MemAvailable:", no_limit) * 1024;
}

GroupMemory memory_of_control_groups(const std::filesystem::path& root) {
    const Groups groups = groups_of_this_process(root, "memory");
    const GroupMemory first = left_in_groups(root, version_1, groups.version_1);
    const GroupMemory second = left_in_groups(root, version_2, groups.version_2);
    return second.bytes < first.bytes ? second : first;
}

GroupCores cores_of_control_groups(const std::filesystem::path& root) {
    const Groups groups = groups_of_this_process(root, "cpu");
    GroupCores least{no_limit, {}};
    const auto look_at = [&](const std::filesystem::path& top, const std::filesystem::path& path) {
        for (const auto& folder : folders_of(top, path))
            if (const double cores = cores_of_group(folder); cores < least.cores) least = {cores, folder.string()};
    };
    look_at(root / "sys/fs/cgroup/cpu", groups.version_1);
    look_at(root / "sys/fs/cgroup", groups.version_2);
    return least;
}

double memory_of_address_space(const std::filesystem::path& root) {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
    const double pages = number_in(root / "proc/self/statm", 0);
    return std::max(0.0, static_cast<double>(limit.rlim_cur) - pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
}

double available_memory(const MemorySharers& sharers, const std::filesystem::path& root) {
    return std::min({memory_of_machine(root) / sharers.machine, memory_of_control_groups(root).bytes / sharers.groups,
                     memory_of_address_space(root)});
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

void set_default(const char* variable, const char* value) { setenv(variable, value, 0); }

}  // namespace tesela::starpu
