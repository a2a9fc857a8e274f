#include "tesela/kernels/blas_core.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace tesela {
namespace {

constexpr const char* this_program = "/proc/self/exe";

/// The arguments that this process was started with, its name first.
std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
    return arguments;
}

}  // namespace

void restart_with_better_blas() {
    const BlasCore core = this_blas_core();
    const auto better = core.restart_with();
    if (!better) return;
    std::vector<std::string> arguments = own_arguments();
    if (arguments.empty()) return;
    std::vector<char*> list;
    for (std::string& one : arguments) list.push_back(one.data());
    list.push_back(nullptr);
    // By its own path, so that tools list it under its name; by the link if that file was replaced meanwhile.
    std::error_code error;
    const std::string path = std::filesystem::read_symlink(this_program, error).string();
    setenv("OPENBLAS_CORETYPE", better->c_str(), 1);
    setenv(blas_restart_variable, core.in_use.c_str(), 1);
    if (!error) execv(path.c_str(), list.data());
    execv(this_program, list.data());
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv(blas_restart_variable);
}

}  // namespace tesela
