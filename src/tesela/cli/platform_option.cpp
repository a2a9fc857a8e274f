#include "tesela/cli/platform_option.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/near_word.hpp"
#include "tesela/calibration/calibrate.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/flow/exchange.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/kernels/gram.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tesela::cli {
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

namespace {

/// A program may have kernels of its own, so that an unknown one is no error; more often it is misspelt.
void warn_of_unknown_kernels(const Platform& platform, const std::string& file) {
    std::vector<std::string> known = calibration::kernel_names(ElementType::f64);
    for (std::string& name : calibration::kernel_names(ElementType::f32)) known.push_back(std::move(name));
    known.insert(known.end(),
                 {ParcelTaskNames::pack, ParcelTaskNames::unpack, ParcelTaskNames::copy, read_without_file.name});
    std::set<std::string> warned;
    for (const NodeType& type : platform.node_types)
        for (const WorkerGroup& group : type.workers)
            for (const KernelTime& kernel : group.kernels) {
                if (std::ranges::find(known, kernel.kernel) != known.end() || !warned.insert(kernel.kernel).second)
                    continue;
                print_error("tesela", fmt::format("warning: {}: no operation of Tesela uses the kernel \"{}\"{}", file,
                                                  kernel.kernel, did_you_mean(kernel.kernel, known)));
            }
}

}  // namespace

Platform read_platform(const std::string& name, const std::string& nodes) {
    const std::string file = find_platform(name);
    Platform platform;
    const nlohmann::json json = read_json_file(file);
    try {
        platform = json.get<Platform>();
    } catch (const Error& error) {
        throw Error("{}: {}", file, error.what());
    }
    warn_of_unknown_kernels(platform, file);
    return nodes.empty() ? platform : choose_nodes(platform, nodes);
}

void add_platform_options(CLI::App& command, std::string& platform, std::string& nodes) {
    command.add_option("--platform", platform, "A platform file, or the name of a ready-made platform")->required();
    command.add_option("--nodes", nodes,
                       "Nodes of the platform to use, by number and type, as 6che+6chi (default: all)");
}

}  // namespace tesela::cli
