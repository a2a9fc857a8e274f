#pragma once

#include <vector>

namespace tesela {

/// Work that may be divided at will, and machines of several kinds to do it.
struct FractionalLoad {
    std::vector<double> amounts;  ///< pieces of each kind of work
    std::vector<std::vector<double>>
        seconds;                   ///< of a piece of each kind of work on a machine of each kind, or infinite
    std::vector<double> machines;  ///< of each kind; 0 is allowed
};

/// Seconds in which the machines can do all of it at least: the optimum of the linear program
///     min T  with  Σ_w x_wg·d_wg ≤ n_g·T for every kind g of machine,  Σ_g x_wg = a_w for every kind w of work,  x ≥ 0
///     ,
/// infinite if some work can be done by none. Never above the optimum; below it only for four kinds of machines or
/// more, and for three with thousands of kinds of work.
[[nodiscard]] double least_seconds(const FractionalLoad& load);

}  // namespace tesela
