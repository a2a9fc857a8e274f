#pragma once

#include "harness/table.hpp"

#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/step_schedule.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tesela::bench {

struct Family {
    std::string name;
    double alpha = 1;
};

/// Which matrices are drawn: `count` seeds from `first` on.
struct Seeds {
    Index first = 0;
    Index count = 1;
};

/// An operation on matrices of paper 001's generator, one per seed, and what of its metrics does not depend on who owns
/// which tile.
class DrawnMatrices {
public:
    DrawnMatrices(Operation operation, Index tiles, const Seeds& seeds);

    [[nodiscard]] Operation operation() const { return operation_; }
    [[nodiscard]] Index tiles() const { return tiles_; }
    [[nodiscard]] DistributionRequest request(Index number, Index nodes, const Family& family) const;

    /// A row per seed: 𝔅, 𝔇 and ℭ over the ideal.
    [[nodiscard]] std::vector<Row> measure(Index nodes, const Family& family) const;

private:
    [[nodiscard]] Row measure_one(Index number, Index nodes, const Family& family) const;
    /// 𝔇: as AllocationMetrics::dependency_makespan has it with Preemption::allowed, in a tenth of the time. Of a
    /// product it is 𝔅, since tasks wait for nothing but their own tile (a test of AllocationMetrics shows it).
    [[nodiscard]] double dependency_makespan(Index number, const Distribution& owners) const;

    Operation operation_;
    Index tiles_;
    Seeds seeds_;
    std::vector<Workload> workloads_;
    std::vector<std::vector<StepTask>> orders_;  // of a factorization
};

/// What tells cases apart.
[[nodiscard]] std::vector<std::string> case_columns();

/// A row per case: the mean over its seeds.
[[nodiscard]] std::vector<Row> case_means(const std::vector<Row>& rows);

[[nodiscard]] std::string_view name_of(Operation operation);

}  // namespace tesela::bench
