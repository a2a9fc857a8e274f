#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tesela::trace {

/// A part of what can be recorded.
enum class Module : std::uint8_t { tasks, comms, memory, app, papi };

/// Which parts are recorded in a run.
class Modules {
public:
    Modules(std::initializer_list<Module> list) {
        for (const Module module : list) add(module);
    }
    void add(Module module) { bits_ = static_cast<std::uint8_t>(bits_ | bit(module)); }
    /// All that cost next to nothing: everything but hardware counters.
    [[nodiscard]] static Modules usual() { return {Module::tasks, Module::comms, Module::memory, Module::app}; }
    [[nodiscard]] bool has(Module module) const { return (bits_ & bit(module)) != 0; }
    friend bool operator==(const Modules&, const Modules&) = default;

private:
    [[nodiscard]] static std::uint8_t bit(Module module) {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(module));
    }
    std::uint8_t bits_ = 0;
};

/// "tasks,comms" as a set; "all" is the usual one. Throws Error naming the known modules.
[[nodiscard]] Modules parse_modules(std::string_view text);

/// What to record and where to.
struct Options {
    /// The file of node 0; node 3 of several writes PATH.3.
    std::string path{};
    Modules modules = Modules::usual();
    /// Up to four hardware counters by their PAPI names, with module papi.
    std::string counters = "PAPI_TOT_CYC,PAPI_TOT_INS";
};

/// The file of one node.
[[nodiscard]] std::string node_path(const std::string& path, std::uint32_t node);

}  // namespace tesela::trace
