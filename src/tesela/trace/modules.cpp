#include "tesela/trace/modules.hpp"

#include "tesela/base/names.hpp"

namespace tesela::trace {
namespace {

constexpr tesela::Names<Module, 5> module_names{{{Module::tasks, "tasks"},
                                                 {Module::comms, "comms"},
                                                 {Module::memory, "memory"},
                                                 {Module::app, "app"},
                                                 {Module::papi, "papi"}}};

void add(Modules& modules, std::string_view name) {
    if (name != "all") return modules.add(parse_name(module_names, name, "trace module (all is all but papi)"));
    for (const auto& [module, text] : module_names)
        if (module != Module::papi) modules.add(module);
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
