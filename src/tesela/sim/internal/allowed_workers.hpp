#pragma once

#include "tesela/flow/engine.hpp"
#include "tesela/sim/internal/cluster.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tesela::sim {

/// Workers of a node that a stream may use, by number; all while it is empty.
class AllowedWorkers {
public:
    AllowedWorkers() = default;
    AllowedWorkers(const WorkerSet& workers, std::size_t of_node);
    [[nodiscard]] bool all() const { return allowed_.empty(); }
    [[nodiscard]] bool has(std::int32_t worker) const { return all() || allowed_[static_cast<std::size_t>(worker)]; }
    [[nodiscard]] bool has_any_of(const Place& place) const;

private:
    std::vector<bool> allowed_;
};

/// Workers of a place that have nothing to do, of which the one with the least number is taken first.
class FreeWorkers {
public:
    FreeWorkers(std::int32_t first, std::int32_t count);
    [[nodiscard]] bool empty() const { return numbers_.empty(); }
    [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(numbers_.size()); }
    [[nodiscard]] bool has_any_of(const AllowedWorkers& allowed) const { return find(allowed) < numbers_.size(); }
    [[nodiscard]] std::optional<std::int32_t> take(const AllowedWorkers& allowed);
    void give_back(std::int32_t worker);

private:
    [[nodiscard]] std::size_t find(const AllowedWorkers& allowed) const;
    std::vector<std::int32_t> numbers_;  // falling
};

}  // namespace tesela::sim
