#pragma once

// One seed for all that tests draw, RapidCheck's properties included: another one in every run, so that many runs see
// many cases. TESELA_TEST_SEED=N repeats a run; .ci/run derives it from the commit.

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace tesela::testing {

inline constexpr const char* seed_variable = "TESELA_TEST_SEED";

/// The one that was given, or drawn at the first call.
inline std::uint64_t& seed_slot() {
    static std::uint64_t slot = [] {
        const auto given = environment(seed_variable);
        if (!given) return std::uint64_t{std::random_device{}()};
        std::uint64_t value = 0;
        const char* end = given->data() + given->size();
        if (std::from_chars(given->data(), end, value).ptr != end)
            throw Error("{} must be a whole number from 0 on, not \"{}\"", seed_variable, *given);
        return value;
    }();
    return slot;
}

/// The seed of this run, the same on all nodes.
inline std::uint64_t seed() { return seed_slot(); }

/// Before the tests run: says which seed they draw with, and makes it RapidCheck's. `parameters` are others of
/// RapidCheck's, as "max_success=40"; RC_PARAMS, where a user sets it, stands.
inline void announce_seed(const std::string& parameters = "") {
    setenv("RC_PARAMS", fmt::format("seed={} {}", seed(), parameters).c_str(), 0);
    if (rank_by_launcher().value_or("0") == "0")
        fmt::print(stderr, "{}={} draws the cases of this run again\n", seed_variable, seed());
}

}  // namespace tesela::testing
