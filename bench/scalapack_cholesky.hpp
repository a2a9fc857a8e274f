#pragma once

#include "tesela/algs/elementwise.hpp"
#include "tesela/starpu/engine.hpp"

#include <vector>

namespace tesela::bench {

/// How ScaLAPACK lays a matrix over the nodes.
struct ScalapackSetting {
    GridSize grid;
    Index block = 64;
};

/// What users of ScaLAPACK try first: the squarest grid of processes and its transpose (a single row of them where
/// that is the same), with blocks of 64 and 128.
[[nodiscard]] std::vector<ScalapackSetting> usual_settings(Index nodes);

/// pdpotrf on the nodes of an engine, whose workers rest meanwhile; BLAS has as many threads on a node as it has
/// workers.
class ScalapackCholesky {
public:
    /// `elements` are those of a symmetric positive definite matrix of order n.
    ScalapackCholesky(StarpuEngine& engine, Index n, const Elements& elements);

    /// Runs every setting once and keeps the best; every node calls it, with nothing pending.
    void run();

    struct Best {
        double seconds = 0;
        ScalapackSetting setting;
    };
    [[nodiscard]] const Best& best() const { return best_; }

private:
    [[nodiscard]] double seconds_of_setting(const ScalapackSetting& setting);

    StarpuEngine& engine_;
    Index n_;
    Elements elements_;
    Best best_;
};

}  // namespace tesela::bench
