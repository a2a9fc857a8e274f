#pragma once

#include "tesela/flow/engine.hpp"

#include <string>

namespace tesela::bench {

/// A file of distances in single precision, by rows, which the first node writes and removes again. Every node makes
/// one.
class OwnDistances {
public:
    OwnDistances(Engine& engine, const std::string& folder, Index points);
    ~OwnDistances();
    OwnDistances(const OwnDistances&) = delete;
    OwnDistances& operator=(const OwnDistances&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    bool is_mine_ = false;
};

}  // namespace tesela::bench
