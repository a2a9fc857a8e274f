#include "tesela/algs/mds_phases.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/priorities.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/random.hpp"

#include <utility>

namespace tesela {
namespace {

const Tiling& checked(const Tiling& tiling, Index columns, const MdsOwners& owners) {
    if (tiling.row_cuts() != tiling.col_cuts() || tiling.grid().rows == 0)
        throw Error("distances are a square matrix, its rows cut as its columns; this has {} x {} tiles",
                    tiling.grid().rows, tiling.grid().cols);
    if (columns < 1) throw Error("multidimensional scaling needs at least 1 column; it is to have {}", columns);
    for (const Distribution* distribution : {&owners.read, &owners.compute})
        if (distribution->grid() != tiling.grid())
            throw Error("the distances have {} x {} tiles, and owners are for {} x {}", tiling.grid().rows,
                        tiling.grid().cols, distribution->grid().rows, distribution->grid().cols);
    return tiling;
}

/// The least number of equal parts that are no wider than a tile.
Index column_tile(const Tiling& tiling, Index columns) {
    const Index parts = (columns + tiling.rows(0) - 1) / tiling.rows(0);
    return (columns + parts - 1) / parts;
}

/// Tile (i, c) where tile (i, c) of the distances is.
Distribution beside(const Distribution& distances, GridSize tiles) {
    return tabulate(tiles, distances.nodes(), [&](Index i, Index c) {
        return distances.owner({i % distances.grid().rows, c % distances.grid().cols}).number();
    });
}

/// The phases for given matrices.
class MdsStream {
public:
    MdsStream(Stream& s, const MdsMatrices& m, const MdsReading& reading)
        : s_(s),
          m_(m),
          reading_(reading),
          nb_(m.D.tile_rows()),
          parts_(m.Y.tile_cols()),
          priority_(nb_) {}

    void begin(std::uint64_t seed) {
        const auto phase = s_.phase("omega");
        fill(s_, m_.ones.view(), {.off_diagonal = 1, .diagonal = 1});
        fill(s_, m_.sums.view(), {});
        fill(s_, m_.weights.view(), {});
        fill(s_, m_.products.view(), {});
        s_.submit(tasks::laset({}, m_.total.tile()));
        generate(s_, m_.omega.view(), [seed](Index i, Index j) {
            return Random(seed).normal({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
        });
        for (Index k = 0; k < nb_; ++k)
            for (Index c = 0; c < parts_; ++c) {
                s_.share_with_owners(m_.omega(k, c), {m_.Y.block({0, c}, {nb_, c + 1})}, priority_.product(k));
                add_transposed_product(k, c, m_.ones, m_.weights);  // (7)
            }
    }

    void row(Index i) {
        read_row(i);
        square_row(i);
        multiply_row(i);
    }

    void centre() {
        const auto phase = s_.phase("centre");
        add_up();
        const CentreArguments args{.order = static_cast<double>(m_.D.tiling().size().i)};
        for (Index i = 0; i < nb_; ++i) {
            for (Index c = 0; c < parts_; ++c)  // (9)
                centre_tile(args, i, m_.weights(c, 0), m_.products(c, 0), m_.Y(i, c));
            for (Index j = 0; j < nb_; ++j)  // (10)
                centre_tile(args, i, m_.ones(j, 0), m_.sums(j, 0), m_.D(i, j));
        }
        retire_shared();
    }

private:
    [[nodiscard]] static std::int32_t step(Index i) { return static_cast<std::int32_t>(i); }

    void read_row(Index i) {
        const auto phase = s_.phase("read");
        const LimitedResource reader{reader_resource, reading_.readers_per_node};
        for (Index j = 0; j < nb_; ++j) {
            const ReadArguments args{reading_.source, {m_.D.row_begin(i), m_.D.col_begin(j)}};
            s_.submit(Task(*reading_.kernel, args, write(m_.D(i, j))).at(step(i), priority_.read(i)).needs(reader));
            s_.move(m_.D(i, j), m_.compute.owner({i, j}));
        }
    }

    /// (5), and the sums of squares.
    void square_row(Index i) {
        const auto phase = s_.phase("gram");
        for (Index j = 0; j < nb_; ++j)
            s_.submit(Task(square_kernel, {}, read_write(m_.D(i, j)), reduce(m_.sums(i, 0)))
                          .at(step(i), priority_.square(i)));
    }

    /// (6)
    void multiply_row(Index i) {
        const auto phase = s_.phase("product");
        for (Index c = 0; c < parts_; ++c) s_.submit(tasks::laset({}, m_.Y(i, c)).at(step(i), priority_.clear()));
        for (Index k = 0; k < nb_; ++k) {
            for (Index c = 0; c < parts_; ++c)
                s_.submit(tasks::gemm<double>(GemmArguments{}, m_.D(i, k), m_.omega(k, c), commute(m_.Y(i, c)))
                              .at(step(i), priority_.product(k)));
            s_.retire(m_.D(i, k));
        }
    }

    /// sum(c) := sum(c) + Ω(k, c)ᵀ·x(k), where Ω lives.
    void add_transposed_product(Index k, Index c, const Matrix<double>& x, const Matrix<double>& sum) {
        s_.submit(tasks::gemm<double>(GemmArguments{}, m_.omega.transposed()(c, k), x(k, 0), reduce(sum(c, 0)))
                      .on(m_.omega(k, c).owner())
                      .at(step(k), 0));
    }

    /// Ωᵀ·sums, the sum of all squares, and who is going to need them.
    void add_up() {
        for (Index k = 0; k < nb_; ++k) {
            s_.submit(Task(Dense<double>::dot, read(m_.sums(k, 0)), read(m_.ones(k, 0)), reduce(m_.total.tile()))
                          .on(m_.sums(k, 0).owner())
                          .at(step(k), 0));
            for (Index c = 0; c < parts_; ++c) add_transposed_product(k, c, m_.sums, m_.products);
        }
        s_.share_with_owners(m_.total.tile(), {m_.D.block({0, 0}, {nb_, nb_})});
        for (Index k = 0; k < nb_; ++k) {
            const TileBlock column = m_.D.block({0, k}, {nb_, k + 1});
            s_.share_with_owners(m_.ones(k, 0), {column});
            s_.share_with_owners(m_.sums(k, 0), {column, m_.D.block({k, 0}, {k + 1, nb_})});
        }
        for (Index c = 0; c < parts_; ++c)
            for (const auto* of : {&m_.weights, &m_.products})
                s_.share_with_owners((*of)(c, 0), {m_.Y.block({0, c}, {nb_, c + 1})});
    }

    void centre_tile(const CentreArguments& args, Index i, TileOf<double> w, TileOf<double> v, TileOf<double> x) {
        s_.submit(Task(centre_kernel, args, read(m_.sums(i, 0)), read(m_.total.tile()), read(w), read(v), read_write(x))
                      .at(step(i), 0));
    }

    void retire_shared() {
        for (Index k = 0; k < nb_; ++k) {
            s_.retire(m_.ones(k, 0));
            s_.retire(m_.sums(k, 0));
            for (Index c = 0; c < parts_; ++c) s_.retire(m_.omega(k, c));
        }
        for (Index c = 0; c < parts_; ++c) {
            s_.retire(m_.weights(c, 0));
            s_.retire(m_.products(c, 0));
        }
        s_.retire(m_.total.tile());
    }

    Stream& s_;
    const MdsMatrices& m_;
    const MdsReading& reading_;
    Index nb_;
    Index parts_;
    MdsPriorities priority_;
};

}  // namespace

MdsMatrices::MdsMatrices(Stream& stream, const Tiling& tiling, Index columns, const MdsOwners& owners)
    : compute(owners.compute),
      D(stream, checked(tiling, columns, owners), owners.read, {.name = "D"}),
      omega(stream, tiling.with_columns(columns, column_tile(tiling, columns)),
            beside(compute, tiling.with_columns(columns, column_tile(tiling, columns)).grid()), {.name = "Omega"}),
      Y(stream, omega.tiling(), omega.distribution(), {.name = "Y"}),
      ones(stream, tiling.with_columns(1, 1), beside(compute, {tiling.grid().rows, 1}), {.name = "ones"}),
      sums(stream, ones.tiling(), ones.distribution(), {.name = "squares"}),
      total(stream, {.name = "all squares"}),
      weights(stream, Tiling::from_cuts(omega.tiling().col_cuts(), {0, 1}),
              beside(compute, {omega.tiling().grid().cols, 1}), {.name = "weights"}),
      products(stream, weights.tiling(), weights.distribution(), {.name = "products"}) {}

void mds_phases(Stream& s, const MdsMatrices& matrices, const MdsReading& reading, std::uint64_t seed) {
    MdsStream stream(s, matrices, reading);
    stream.begin(seed);
    for (Index i = 0; i < matrices.D.tile_rows(); ++i) stream.row(i);
    stream.centre();
}

}  // namespace tesela
