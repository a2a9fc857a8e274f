#include "tesela/flow/matrix.hpp"

#include <cstring>

namespace tesela {
namespace {

template <class T>
bool inside(const MatrixView<T>& view, Index i, Index j) {
    return view.part() == Part::all || (view.part() == Part::lower ? i >= j : i <= j);
}

template <class T>
void place(const MatrixView<T>& view, TileIndex at, Fetched& fetched, std::vector<T>& into) {
    fetched.wait();
    if (!fetched.has_value()) return;
    const Index total_rows = view.row_begin(view.tile_rows() - 1) + view.rows(view.tile_rows() - 1) - view.row_begin(0);
    const Index m = view.rows(at.i);
    const Index n = view.cols(at.j);
    std::vector<T> tile(static_cast<std::size_t>(m * n));
    std::memcpy(tile.data(), fetched.bytes().data(), fetched.bytes().size());
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            const Index row = view.row_begin(at.i) - view.row_begin(0) + i;
            const Index col = view.col_begin(at.j) - view.col_begin(0) + j;
            if (!inside(view, row, col)) continue;
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
            if (inside(view, i, j)) tiles.emplace_back(TileIndex{i, j}, stream.fetch(view(i, j)));
    std::vector<T> result(static_cast<std::size_t>(rows * cols), T{0});
    for (auto& [at, fetched] : tiles) place(view, at, *fetched, result);
    return result;
}

template std::vector<float> gather(Stream&, const MatrixView<float>&);
template std::vector<double> gather(Stream&, const MatrixView<double>&);

}  // namespace tesela
