#include "scalapack_cholesky.hpp"

#include "harness/timing.hpp"
#include "shared/scalapack.hpp"

namespace tesela::bench {

std::vector<ScalapackSetting> usual_settings(Index nodes) {
    const GridSize squarest = squarest_grid(nodes);
    const GridSize other = squarest.rows == squarest.cols ? GridSize{1, nodes} : GridSize{squarest.cols, squarest.rows};
    std::vector<ScalapackSetting> settings;
    for (const GridSize grid : {squarest, other})
        for (const Index block : {64, 128}) settings.push_back({grid, block});
    return settings;
}

ScalapackCholesky::ScalapackCholesky(StarpuEngine& engine, Index n, const Elements& elements)
    : engine_(engine),
      n_(n),
      elements_(elements) {}

void ScalapackCholesky::run() {
    for (const ScalapackSetting& setting : usual_settings(engine_.node_count())) {
        const double seconds = seconds_of_setting(setting);
        if (best_.seconds == 0 || seconds < best_.seconds) best_ = {seconds, setting};
    }
}

double ScalapackCholesky::seconds_of_setting(const ScalapackSetting& setting) {
    const BlacsGrid grid(setting.grid);
    const NodeId me = engine_.this_node();
    ScalapackMatrix matrix(grid, me, {n_, n_}, {setting.block, setting.block});
    matrix.generate(me, [this](ElementIndex at) { return elements_.function(elements_.context, at); });
    engine_.pause();
    const int before = set_blas_threads(engine_.worker_count());
    engine_.barrier();  // all start together
    const double seconds = engine_.max(seconds_of([&] { pdpotrf(matrix); }));
    set_blas_threads(before);
    engine_.resume();
    return seconds;
}

}  // namespace tesela::bench
