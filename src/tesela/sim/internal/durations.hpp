#pragma once

#include "tesela/kernels/kernel.hpp"
#include "tesela/platform/platform.hpp"

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace tesela::sim {

/// What decides how long a task takes: tasks that agree in it take the same time.
struct Work {
    const Kernel* kernel = nullptr;
    KernelWork amount{};
    double ratio = 1;  ///< of its time to that of dense tiles
};

/// How long each kind of work takes on each group of workers of each node type: looked up once per kind.
class Durations {
public:
    static constexpr double never = std::numeric_limits<double>::infinity();

    explicit Durations(const Platform& platform);

    /// The number of a kind of work.
    [[nodiscard]] std::uint32_t number_of(const Work& work);
    /// Seconds on one core, or on a GPU alone; `never` where there is no implementation.
    [[nodiscard]] double seconds(std::uint32_t work, std::size_t type, std::size_t group) const {
        return table_[work * columns_ + first_group_[type] + group];
    }
    /// On each group of a node type.
    [[nodiscard]] std::vector<double> of_groups(std::uint32_t work, std::size_t type) const;
    /// Of the fastest group of a node type.
    [[nodiscard]] double least(std::uint32_t work, std::size_t type) const;
    [[nodiscard]] std::size_t kinds() const { return works_.size(); }
    [[nodiscard]] const Kernel& kernel(std::uint32_t work) const { return *works_[work].kernel; }

private:
    struct Hash {
        std::size_t operator()(const Work& work) const;
    };
    struct Equal {
        bool operator()(const Work& a, const Work& b) const;
    };
    const Platform& platform_;
    std::vector<std::size_t> first_group_;
    std::size_t columns_ = 0;
    std::vector<Work> works_;
    std::vector<double> table_;
    std::unordered_map<Work, std::uint32_t, Hash, Equal> numbers_;
};

}  // namespace tesela::sim
