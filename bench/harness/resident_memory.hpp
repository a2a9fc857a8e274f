#pragma once

#include <fstream>
#include <string>

namespace tesela::bench {

/// Bytes of this process that are in memory now (VmRSS); 0 without /proc.
inline double resident_bytes() {
    std::ifstream file("/proc/self/status");
    std::string line;
    while (std::getline(file, line))
        if (line.starts_with("VmRSS:")) return 1024 * std::stod(line.substr(6));
    return 0;
}

}  // namespace tesela::bench
