// Feeds bytes to the reader of platform files and asks what it accepts all that a simulation asks. Only tesela::Error
// may come out.

#include "tesela/platform/platform.hpp"
#include "require.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/json_file.hpp"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using namespace tesela;  // NOLINT(google-build-using-namespace): a program
using fuzz::require;

void ask_for_times(const NodeType& type) {
    for (const WorkerGroup& group : type.workers)
        for (const KernelTime& kernel : group.kernels)
            for (const Index tile : {Index{1}, Index{960}, Index{1'000'000}}) {
                (void)kernel_seconds(group, kernel.kernel, {.tile = tile});
                (void)node_power(type, kernel.kernel, {.tile = tile, .flops = 1e9, .bytes = 1e6, .elements = 1e6});
            }
}

void use(const Platform& platform) {
    check_platform(platform);
    require(platform == nlohmann::json::parse(nlohmann::json(platform).dump()).get<Platform>(),
            "a platform that is written reads back the same");
    require(node_type(platform, NodeId{node_count(platform) - 1}) == platform.node_types.back(),
            "the last node is of the last type");
    for (const NodeType& type : platform.node_types) {
        ask_for_times(type);
        (void)choose_nodes(platform, "1" + type.name);
    }
}

Platform parse(const std::string& text) { return parse_json(text, "fuzz").get<Platform>(); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Platform platform;
    try {
        platform = parse(std::string(reinterpret_cast<const char*>(data), size));
    } catch (const Error&) {
        return 0;  // What a damaged file must end in.
    }
    use(platform);
    return 0;
}
