#include "tesela/base/error.hpp"
#include "tesela/sim/simgrid/simgrid_network.hpp"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <string>

namespace tesela {
namespace {

/// Where the module is: beside the installed libraries, also when the whole prefix was moved, or in the build tree.
/// Empty if it is nowhere.
std::string find_module() {
    const std::filesystem::path installed(TESELA_SIMGRID_INSTALLED);
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::filesystem::path moved =
        program.parent_path().parent_path() / TESELA_LIBDIR / "tesela" / installed.filename();
    const std::array<std::filesystem::path, 3> places{installed, moved, TESELA_SIMGRID_BUILT};
    for (const auto& place : places)
        if (std::filesystem::is_regular_file(place, error)) return place.string();
    return {};
}

using MakeNetwork = Timeline* (*)(const Platform*);

MakeNetwork load_module() {
    const std::string path = find_module();
    if (path.empty())
        throw Error("this Tesela has no SimGrid: install libsimgrid-dev and build again, or use --network ports");
    // Local, so that SimGrid's own MPI stays among itself; it is never unloaded.
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* function = module == nullptr ? nullptr : dlsym(module, "tesela_simgrid_network");
    if (function == nullptr) throw Error("the SimGrid module cannot be loaded: {}", dlerror());
    return reinterpret_cast<MakeNetwork>(function);
}

}  // namespace

std::unique_ptr<Timeline> simgrid_network(const Platform& platform) {
    static const MakeNetwork make = load_module();
    return std::unique_ptr<Timeline>(make(&platform));
}

bool has_simgrid() { return !find_module().empty(); }

}  // namespace tesela
