#pragma once

#include "tesela/starpu/internal/meanwhile.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace tesela::starpu {

/// Where StarPU's home can be, in order, and the file that keeps what StarPU measured for later starts: empty where
/// there is none.
struct HomePlaces {
    std::vector<std::filesystem::path> folders;
    std::filesystem::path kept;
};
/// Memory first, which is there when disks are full; a file per machine and version of StarPU in the user's cache.
[[nodiscard]] HomePlaces home_places();

/// The home of StarPU while it starts: a folder of this process alone, which is gone afterwards. StarPU reads files
/// there that say how fast memories exchange data, writes those that are missing, and ends the program where one is cut
/// short, as by processes that start at once in one home, or by a full disk.
class StarpuHome {
public:
    /// Throws Error where no place has room for StarPU's files.
    explicit StarpuHome(HomePlaces places);
    ~StarpuHome();
    StarpuHome(const StarpuHome&) = delete;
    StarpuHome& operator=(const StarpuHome&) = delete;
    StarpuHome(StarpuHome&&) = delete;
    StarpuHome& operator=(StarpuHome&&) = delete;

    /// StarPU's files: what was kept, and later what StarPU made of it.
    [[nodiscard]] std::filesystem::path files() const;
    /// Keeps them for later starts, unless they are kept already. Where they cannot be, StarPU measures anew.
    void keep() const;

private:
    std::filesystem::path kept_;
    std::string kept_text_;
    std::filesystem::path folder_;
    std::array<Meanwhile, 4> variables_;
};

}  // namespace tesela::starpu
