#pragma once

#include "tesela/base/index.hpp"

#include <cstddef>
#include <vector>

namespace tesela {

/// Throws Error unless the power of a node is 0 or a number whose quotients and sums are numbers too.
void require_usable_power(std::size_t node, double power);

/// How fast nodes are, relative to each other: what load each should get.
class Powers {
public:
    /// Equal unless given. Throws Error unless there are none or one per node, all greater than 0.
    Powers(Index nodes, const std::vector<double>& powers);

    [[nodiscard]] Index nodes() const { return static_cast<Index>(powers_.size()); }
    [[nodiscard]] bool equal() const { return equal_; }
    /// 1 for all where they are equal.
    [[nodiscard]] double operator[](Index node) const { return powers_[static_cast<std::size_t>(node)]; }
    /// How long a load takes there.
    [[nodiscard]] double time(Index node, double load) const { return load / (*this)[node]; }
    /// The node's part of a load that is divided well.
    [[nodiscard]] double part(Index node, double load) const {
        return equal_ ? load / total_ : load * (*this)[node] / total_;
    }
    /// The longest time of these loads, one per node.
    [[nodiscard]] double longest(const std::vector<double>& loads) const;

private:
    std::vector<double> powers_;
    double total_ = 0;
    bool equal_ = true;
};

}  // namespace tesela
