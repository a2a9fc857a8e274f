#include "tesela/trace/modules.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tesela::trace {
namespace {

constexpr std::array<std::pair<std::string_view, Module>, 5> known{{{"tasks", Module::tasks},
                                                                    {"comms", Module::comms},
                                                                    {"memory", Module::memory},
                                                                    {"app", Module::app},
                                                                    {"papi", Module::papi}}};

void add(Modules& modules, std::string_view name) {
    if (name == "all") {
        for (const auto& [text, module] : known)
            if (module != Module::papi) modules.add(module);
        return;
    }
    const auto* found =
        std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first == name; });
    if (found == known.end())
        throw Error("there is no trace module called '{}': known are tasks, comms, memory, app, papi, and all", name);
    modules.add(found->second);
}

}  // namespace

Modules parse_modules(std::string_view text) {
    Modules modules{};
    while (true) {
        const std::size_t comma = text.find(',');
        add(modules, text.substr(0, comma));
        if (comma == std::string_view::npos) return modules;
        text.remove_prefix(comma + 1);
    }
}

std::string node_path(const std::string& path, std::uint32_t node) {
    return node == 0 ? path : fmt::format("{}.{}", path, node);
}

}  // namespace tesela::trace
