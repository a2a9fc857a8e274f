#include "tesela/io/platform_file.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/json_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

namespace tesela {
namespace {

namespace fs = std::filesystem;

/// Folders with ready-made platforms, the first to look in first.
std::vector<fs::path> platform_folders() {
    std::vector<fs::path> folders;
    if (const auto own = environment("TESELA_PLATFORMS")) folders.emplace_back(*own);
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (!error) folders.push_back(self.parent_path().parent_path() / "share/tesela/platforms");
    folders.emplace_back(TESELA_PLATFORMS_INSTALLED);
    folders.emplace_back(TESELA_PLATFORMS_SOURCE);
    return folders;
}

std::string known_platforms() {
    std::set<std::string> names;
    std::error_code error;
    for (const fs::path& folder : platform_folders())
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
            if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
    names.erase("schema");  // which describes platform files
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return list;
}

}  // namespace

std::string find_platform(const std::string& name) {
    std::error_code error;
    if (fs::is_regular_file(name, error)) return name;
    if (!name.empty() && name.find('/') == std::string::npos)
        for (const fs::path& folder : platform_folders())
            for (const char* ending : {"", ".json"})
                if (const fs::path file = folder / (name + ending); fs::is_regular_file(file, error))
                    return file.string();
    const std::string known = known_platforms();
    throw Error("there is no platform file {}{}", name,
                known.empty() ? "" : fmt::format(", nor a ready-made platform of that name; there are {}", known));
}

Platform read_platform(const std::string& name, const std::string& nodes) {
    const std::string file = find_platform(name);
    Platform platform;
    const nlohmann::json json = read_json_file(file);
    try {
        platform = json.get<Platform>();
    } catch (const Error& error) {
        throw Error("{}: {}", file, error.what());
    }
    return nodes.empty() ? platform : choose_nodes(platform, nodes);
}

}  // namespace tesela
