#pragma once

#include "require.hpp"

#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace tesela::fuzz {

/// A file for readers that take a path; not one of memfd_create, which HDF5 does not open.
class TemporaryFile {
public:
    TemporaryFile(const std::uint8_t* data, std::size_t size)
        : path_(std::filesystem::temp_directory_path() / "tesela-fuzz-XXXXXX") {
        const int descriptor = ::mkstemp(path_.data());
        require(descriptor >= 0, "there is room for a file");
        require(::write(descriptor, data, size) == static_cast<ssize_t>(size), "the file takes all bytes");
        ::close(descriptor);
    }
    ~TemporaryFile() { ::unlink(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace tesela::fuzz
