#include "tesela/cli/platform_option.hpp"

#include "tesela/base/near_word.hpp"
#include "tesela/cli/all_specimens.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/io/platform_file.hpp"
#include "tesela/mds/gram.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace tesela::cli {
namespace {

/// A program may have kernels of its own, so that an unknown one is no error; more often it is misspelt, unless it was
/// measured: nobody typed its name then.
void warn_of_unknown_kernels(const Platform& platform, const std::string& file) {
    std::vector<std::string> known = kernel_names(all_specimens());
    known.emplace_back(read_without_file.name);
    std::set<std::string> warned;
    for (const NodeType& type : platform.node_types)
        for (const WorkerGroup& group : type.workers)
            for (const KernelTime& kernel : group.kernels) {
                if (kernel.source == Source::measured || std::ranges::find(known, kernel.kernel) != known.end() ||
                    !warned.insert(kernel.kernel).second)
                    continue;
                print_error("tesela", fmt::format("warning: {}: no operation of Tesela uses the kernel \"{}\"{}", file,
                                                  kernel.kernel, did_you_mean(kernel.kernel, known)));
            }
}

}  // namespace

Platform read_platform(const std::string& name, const std::string& nodes) {
    const Platform platform = tesela::read_platform(name, "");
    warn_of_unknown_kernels(platform, find_platform(name));
    return nodes.empty() ? platform : choose_nodes(platform, nodes);
}

void add_platform_options(CLI::App& command, std::string& platform, std::string& nodes) {
    command.add_option("--platform", platform, "A platform file, or the name of a ready-made platform")->required();
    command.add_option("--nodes", nodes,
                       "Nodes of the platform to use, by number and type, as 6che+6chi (default: all)");
}

}  // namespace tesela::cli
