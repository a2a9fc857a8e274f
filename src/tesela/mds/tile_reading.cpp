#include "tesela/mds/internal/tile_reading.hpp"

#include <algorithm>

namespace tesela {

void TileReading::read_row(Index i) {
    const auto phase = s_.phase("read");
    if (spec_.reading.panel_tiles > 0)
        read_panels(i);
    else
        read_tiles(i);
    if (!into_.whole()) return;
    for (Index j = 0; j < spec_.tiles_of_row(i); ++j) s_.move(into_.tile(i, j), spec_.compute.owner({i, j}));
}

Task TileReading::read_task(Index i, TileRef to, Index first_column) const {
    const ReadArguments args{spec_.reading.source, {spec_.tiling.row_begin(i), first_column}};
    return Task::unchecked(*spec_.reading.kernel, {{to, AccessMode::write}}, args)
        .at(step_of(i), spec_.priority(i))
        .needs(reader_);
}

void TileReading::read_tiles(Index i) {
    for (Index j = 0; j < spec_.tiles_of_row(i); ++j)
        s_.submit(read_task(i, into_.tile(i, j), spec_.tiling.col_begin(j)));
}

void TileReading::read_panels(Index i) {
    const std::int32_t urgency = spec_.priority(i);
    const Kernel& take =
        spec_.reading.type == ElementType::f32 ? static_cast<const Kernel&>(take_single_kernel) : take_double_kernel;
    const Index tiles = spec_.tiles_of_row(i);
    for (Index first = 0, panel = 0; first < tiles; first += spec_.reading.panel_tiles, ++panel) {
        const TileRef from = into_.panel(i, panel);
        const Index begin = spec_.tiling.col_begin(first);
        s_.submit(read_task(i, from, begin));
        for (Index j = first; j < std::min(first + spec_.reading.panel_tiles, tiles); ++j) {
            const Index col = spec_.tiling.col_begin(j);
            const TakeArguments args{.rule = spec_.element_rule(),
                                     .first = col - begin,
                                     .shift = spec_.reading.shift ? spec_.reading.shift + col : nullptr};
            s_.submit(Task::unchecked(take, {{from, AccessMode::read}, {into_.tile(i, j), AccessMode::write}}, args)
                          .at(step_of(i), urgency));
        }
    }
}

}  // namespace tesela
