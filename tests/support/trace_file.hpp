#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace tesela::testing {

/// The path of a trace of this process, whose file goes away with it.
struct TraceFile {
    std::string path =
        (std::filesystem::temp_directory_path() / ("tesela-tracing-" + std::to_string(getpid()))).string();
    TraceFile() = default;
    ~TraceFile() { std::remove(path.c_str()); }
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;
    TraceFile(TraceFile&&) = delete;
    TraceFile& operator=(TraceFile&&) = delete;
};

}  // namespace tesela::testing
