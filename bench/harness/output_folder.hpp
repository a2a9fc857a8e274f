#pragma once

#include "harness/report.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tesela::bench {

/// Where an experiment leaves its tables and pictures.
class OutputFolder {
public:
    explicit OutputFolder(std::string path) : path_(std::move(path)) {}

    void table(const std::string& name, const std::vector<Row>& rows, Digits digits) {
        write_table(file(name), rows, digits);
    }
    void picture(const std::string& name, std::string_view svg);
    /// The path of a file of this name, which is one of those that are left.
    [[nodiscard]] const std::string& file(const std::string& name);
    [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

private:
    std::string path_;
    std::vector<std::string> files_;
};

}  // namespace tesela::bench
