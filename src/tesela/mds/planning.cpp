#include "tesela/mds/planning.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"
#include "tesela/mds/streamed_matrix.hpp"

#include <algorithm>

namespace tesela::mds {
namespace {

/// Readers of all nodes together: what their limits say, or what reading asks for.
Index readers_of(const Platform& platform, Index at_most) {
    Index readers = 0;
    for (const NodeType& type : platform.node_types) {
        const auto limit = type.limits.find(reader_resource);
        readers += type.count * (limit == type.limits.end() ? at_most : std::min(limit->second, at_most));
    }
    if (readers < 1) throw Error("no node of {} has a reader: see limits in docs/platforms.md", platform.name);
    return readers;
}

/// Tiles of a step of the linear program: those that are read at a time (paper 000, section 4.3), over all nodes, or a
/// multiple of them where there would be more steps than the program is solved for in a second or two.
Index tiles_per_step(Index tiles, Index readers) {
    constexpr Index most_steps = 250;
    const Index rounds = (tiles + readers - 1) / readers;
    return readers * ((rounds + most_steps - 1) / most_steps);
}

/// The corrections at the end wait for all that is read: they belong to the last step.
plan::StepRule steps_of(GridSize tiles, Index per_step) {
    const plan::StepRule reading =
        plan::by_reading_order({.first = {"read"}, .second = {"gram", "product"}}, "D", per_step);
    const plan::StepRule centring = plan::by_reading_order({.first = {}, .second = {"centre"}}, "D", tiles.count());
    const Index last = (tiles.count() - 1) / per_step;
    return [=](const Recording& recording, const RecordedItem& task) -> std::optional<plan::PlannedStep> {
        if (centring(recording, task)) return plan::PlannedStep{plan::Part::second, last};
        return reading(recording, task);
    };
}

/// The strategies of section 5.5: whole rows, as a row of D and of the product are then on one node.
plan::Families families() {
    using enum plan::SharesOf;
    return {.plain = "1d",
            .constrained = "1d_constrained",
            .others = {},
            .shares = {first, both, second},
            .first_of_plain = plan::FirstOwners::rows_by_turns,
            .first_of_lp = plan::FirstOwners::shares_of_rows};
}

}  // namespace

void submit_scaling(Stream& stream, const PlannedScaling& scaling, const plan::PhaseDistributions& owners) {
    const auto wait = [&] { require_done(stream.wait()); };
    StreamedMatrix matrix(stream, {.tiling = Tiling::square(scaling.points, scaling.tile),
                                   .read = owners.first,
                                   .compute = owners.second,
                                   .columns = scaling.columns,
                                   .reading = {.panel_tiles = scaling.panel_tiles, .readers_per_node = scaling.readers},
                                   .step = scaling.step,
                                   .centring = StreamedSpec::Centring::tiles_too});
    const Matrix<double> omega = matrix.make_right("Omega");
    const Matrix<double> Y = matrix.make_left("Y");
    {
        const auto phase = stream.phase("omega");
        generate(stream, omega.view(), [](Index, Index) { return 0.0; });
    }
    matrix.first_product(omega, Y, wait);
    wait();
}

plan::Application planned_scaling(const PlannedScaling& scaling, const Platform& platform) {
    if (scaling.panel_tiles > 0) throw Error("scaling is planned as tiles that are read by themselves, not in panels");
    const GridSize tiles = Tiling::square(scaling.points, scaling.tile).grid();
    const auto submit = [scaling](Engine& engine, const plan::PhaseDistributions& owners) {
        StreamOptions options{.name = "mds"};
        if (scaling.max_pending > 0) options.max_pending = scaling.max_pending;
        Stream stream(engine, options);
        submit_scaling(stream, scaling, owners);
    };
    return {.name = "mds",
            .matrix = {.tiles = tiles, .tile = scaling.tile, .operation = Operation::product},
            .submit = submit,
            .steps = steps_of(tiles, tiles_per_step(tiles.count(), readers_of(platform, scaling.readers))),
            .first = plan::FirstPhase::a_task_per_step,
            .families = families(),
            .priorities = "reading_order",
            .tasks = 3 * static_cast<double>(tiles.count())};
}

}  // namespace tesela::mds
