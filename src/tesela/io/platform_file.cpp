#include "tesela/io/platform_file.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/json_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
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

using Json = nlohmann::ordered_json;

/// As a platform file has them.
nlohmann::json kernels_json(const std::vector<KernelTime>& kernels) {
    const nlohmann::json platform = Platform{.node_types = {{.workers = {{.kernels = kernels}}}}};
    return platform["node_types"][0]["workers"][0]["kernels"];
}

/// The group of cores of a type of node.
Json& cores_of(Json& platform, const std::string& type) {
    Json& types = platform["node_types"];
    for (Json& one : types) {
        if (type.empty() ? types.size() > 1 : one["name"] != type) continue;
        for (Json& group : one["workers"])
            if (group["processor"] == "cpu") return group;
        throw Error("nodes of type {} have no cores", one["name"].get<std::string>());
    }
    std::vector<std::string> names;
    for (const Json& one : types) names.push_back(one["name"]);
    throw Error("{}; it has {}", type.empty() ? "say which type of node it is" : "there is no type of node " + type,
                fmt::join(names, ", "));
}

void put(Json& kernels, const Json& kernel) {
    for (Json& one : kernels)
        if (one["kernel"] == kernel["kernel"]) {
            one = kernel;
            return;
        }
    kernels.push_back(kernel);
}

Platform platform_of(const nlohmann::json& json, const std::string& file) {
    try {
        return json.get<Platform>();
    } catch (const Error& error) {
        throw Error("{}: {}", file, error.what());
    }
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
    const Platform platform = platform_of(read_json_file(file), file);
    return nodes.empty() ? platform : choose_nodes(platform, nodes);
}

void merge_durations(const std::string& file, const std::vector<TypeDurations>& measured) {
    const std::string text = read_file(file);
    (void)platform_of(parse_json(text, file), file);
    Json platform = Json::parse(text);  // which keeps the order of keys
    try {
        for (const auto& [type, kernels] : measured) {
            Json& there = cores_of(platform, type)["kernels"];
            for (const nlohmann::json& kernel : kernels_json(kernels)) put(there, kernel);
        }
    } catch (const Error& error) {
        throw Error("{}: {}", file, error.what());
    }
    (void)platform_of(platform, file);
    write_json_file(file, platform);
}

}  // namespace tesela
