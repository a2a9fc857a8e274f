#include "tesela/flow/matrix.hpp"

#include <cstring>

namespace tesela {
namespace {

/// What of a tile the view means.
template <class T>
Trapezoid part_of(const MatrixView<T>& view, Index i, Index j, const TileOf<T>& tile) {
    return {view.rows(i), view.cols(j), tile.view.part, tile.view.diagonal};
}

template <class T>
void place(const MatrixView<T>& view, TileIndex at, Fetched& fetched, std::vector<T>& into) {
    if (!fetched.has_value()) return;
    const Index total_rows = view.row_begin(view.tile_rows() - 1) + view.rows(view.tile_rows() - 1) - view.row_begin(0);
    const Trapezoid part = part_of(view, at.i, at.j, view(at.i, at.j));
    const Index m = part.rows;
    const Index n = part.cols;
    std::vector<T> tile(static_cast<std::size_t>(m * n));
    std::memcpy(tile.data(), fetched.bytes().data(), fetched.bytes().size());
    for (Index j = 0; j < n; ++j)
        for (Index i = part.begin(j); i < part.end(j); ++i) {
            const Index row = view.row_begin(at.i) - view.row_begin(0) + i;
            const Index col = view.col_begin(at.j) - view.col_begin(0) + j;
            into[static_cast<std::size_t>(row + col * total_rows)] =
                tile[static_cast<std::size_t>(view.op() == Op::none ? i + j * m : j + i * n)];
        }
}

}  // namespace

Token::Token(Stream& stream, NodeId owner, std::string name)
    : attachment_(stream.attach({.name = std::move(name),
                                 .tiling = Tiling::square(1, 1),
                                 .distribution = Distribution({1, 1}, stream.engine().node_count(),
                                                              {static_cast<std::int32_t>(owner.number())}),
                                 .type = ElementType::none})) {}

template <class T>
std::vector<T> gather(Stream& stream, const MatrixView<T>& view) {
    std::vector<std::pair<TileIndex, std::shared_ptr<Fetched>>> tiles;
    Index rows = 0;
    Index cols = 0;
    for (Index i = 0; i < view.tile_rows(); ++i) rows += view.rows(i);
    for (Index j = 0; j < view.tile_cols(); ++j) cols += view.cols(j);
    for (Index i = 0; i < view.tile_rows(); ++i)
        for (Index j = 0; j < view.tile_cols(); ++j)
            if (const TileOf<T> tile = view(i, j); !part_of(view, i, j, tile).empty())
                tiles.emplace_back(TileIndex{i, j}, stream.fetch(tile));
    std::vector<T> result(static_cast<std::size_t>(rows * cols), T{0});
    for (auto& [at, fetched] : tiles) {
        if (fetched->wait_for_arrival() == Arrival::failure) require_done(stream.wait());
        fetched->wait();
        place(view, at, *fetched, result);
    }
    return result;
}

template std::vector<float> gather(Stream&, const MatrixView<float>&);
template std::vector<double> gather(Stream&, const MatrixView<double>&);

}  // namespace tesela
