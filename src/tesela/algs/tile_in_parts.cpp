#include "tesela/algs/tile_in_parts.hpp"

#include "tesela/algs/internal/factorise.hpp"
#include "tesela/kernels/segment.hpp"

#include <vector>

namespace tesela {
namespace {

template <class T>
class PartsOfTile {
public:
    PartsOfTile(Stream& s, const TileOf<T>& whole, const TileInParts& how)
        : stream_(s),
          whole_(whole),
          how_(how),
          parts_(s, Tiling::square(whole.shape().rows, how.rows), on_one_node(),
                 {.name = "diagonal", .stored = Stored::lower}) {}

    void factorise() {
        for_each_part([&](const TileOf<T>& part) { copy(whole_, part, AccessMode::write); });
        TileInParts within = how_;
        within.first_row += whole_.matrix->tiling().row_begin(whole_.index.i);
        tesela::factorise(stream_, parts_.view(), FactorMarks(within));
        // Copies back write parts of one tile at the same time: see AccessMode::disjoint.
        close();
        for_each_part([&](const TileOf<T>& part) { copy(part, whole_, AccessMode::disjoint); });
        close();
    }

private:
    [[nodiscard]] Distribution on_one_node() const {
        const GridSize tiles = Tiling::square(whole_.shape().rows, how_.rows).grid();
        return {tiles, stream_.engine().node_count(),
                std::vector<std::int32_t>(static_cast<std::size_t>(tiles.count()),
                                          static_cast<std::int32_t>(whole_.owner().number()))};
    }
    template <class Function>
    void for_each_part(const Function& function) const {
        for (Index j = 0; j < parts_.tile_cols(); ++j)
            for (Index i = j; i < parts_.tile_rows(); ++i) function(parts_(i, j));
    }
    void put(Task&& task) { stream_.submit(task.at(how_.step, how_.priority).critical()); }
    /// One of the two is the whole tile, the other a part of it.
    void copy(const TileOf<T>& from, const TileOf<T>& to, AccessMode mode) {
        const TileIndex part = from.matrix == whole_.matrix ? to.index : from.index;
        const auto row = static_cast<std::int32_t>(parts_.tiling().row_begin(part.i));
        const auto col = static_cast<std::int32_t>(parts_.tiling().col_begin(part.j));
        SegmentArguments args{.element_bytes = sizeof(T),
                              .part = part.i == part.j ? Part::lower : Part::all,
                              .rows = static_cast<std::int32_t>(parts_.tiling().rows(part.i)),
                              .cols = static_cast<std::int32_t>(parts_.tiling().cols(part.j))};
        if (from.matrix == whole_.matrix) {
            args.from_i = row;
            args.from_j = col;
        } else {
            args.to_i = row;
            args.to_j = col;
        }
        put(Task::unchecked(SegmentKernels::copy, {{from, AccessMode::read}, {to, mode}}, args));
    }
    void close() { put(Task::unchecked(SegmentKernels::close, {{whole_, AccessMode::read_write}})); }

    Stream& stream_;
    TileOf<T> whole_;
    TileInParts how_;
    Matrix<T> parts_;
};

}  // namespace

template <class T>
void potrf_in_parts(Stream& s, const TileOf<T>& tile, const TileInParts& how) {
    PartsOfTile<T>(s, tile, how).factorise();
}

template void potrf_in_parts(Stream&, const TileOf<float>&, const TileInParts&);
template void potrf_in_parts(Stream&, const TileOf<double>&, const TileInParts&);

}  // namespace tesela
