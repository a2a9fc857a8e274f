#include "harness/origin.hpp"

#include "tesela_commit.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <iterator>

namespace tesela::bench {
namespace {

/// The value of the first line "name : value", or nothing.
std::string_view field(std::string_view cpuinfo, std::string_view name) {
    while (!cpuinfo.empty()) {
        const auto line = cpuinfo.substr(0, cpuinfo.find('\n'));
        cpuinfo.remove_prefix(std::min(cpuinfo.size(), line.size() + 1));
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
        if (line.substr(0, end + 1) != name) continue;
        const auto begin = line.find_first_not_of(" \t", colon + 1);
        return begin == std::string_view::npos ? std::string_view{} : line.substr(begin);
    }
    return {};
}

std::string content(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Those that this process may use.
int cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::string architecture() {
    utsname system{};
    return uname(&system) == 0 ? static_cast<const char*>(system.machine) : "unknown architecture";
}

}  // namespace

std::string processor_model(std::string_view cpuinfo) {
    const auto name = field(cpuinfo, "model name");
    const auto family = field(cpuinfo, "cpu family"), model = field(cpuinfo, "model");
    const auto implementer = field(cpuinfo, "CPU implementer"), part = field(cpuinfo, "CPU part");  // Arm
    std::string numbers;
    if (!family.empty()) numbers = fmt::format("family {}, model {}", family, model);
    if (!implementer.empty()) numbers = fmt::format("implementer {}, part {}", implementer, part);
    if (name.empty()) return numbers.empty() ? "unknown processor" : "processor of " + numbers;
    return numbers.empty() ? std::string(name) : fmt::format("{} ({})", name, numbers);
}

std::string origin() {
    return fmt::format("commit: {}; machine: {}, {} cores, {}; date: {:%Y-%m-%d %H:%M} UTC", commit,
                       processor_model(content("/proc/cpuinfo")), cores(), architecture(),
                       fmt::gmtime(std::time(nullptr)));
}

}  // namespace tesela::bench
