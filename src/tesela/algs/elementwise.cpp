#include "tesela/algs/elementwise.hpp"

#include "tesela/algs/checks.hpp"
#include "tesela/algs/tasks.hpp"

namespace tesela {
namespace {

/// Calls visit(i, j) for each tile that the view means.
template <class T, class Visit>
void for_each_tile(const MatrixView<T>& A, Visit visit) {
    for (Index i = 0; i < A.tile_rows(); ++i)
        for (Index j = 0; j < A.tile_cols(); ++j)
            if (A.part() == Part::all || (A.part() == Part::lower ? i >= j : i <= j)) visit(i, j);
}

template <class T>
void require_scalar(const MatrixView<T>& sum) {
    if (sum.tile_rows() != 1 || sum.tile_cols() != 1 || sum.rows(0) != 1 || sum.cols(0) != 1)
        throw Error("the sum goes into a 1x1 matrix; {} is larger", sum.matrix().name());
}

}  // namespace

template <class T>
void generate(Stream& s, const MatrixView<T>& A, const Elements& elements) {
    if (A.op() != Op::none) throw Error("a transposed view of {} cannot be generated", A.matrix().name());
    const auto phase = s.phase("generate");
    for_each_tile(A, [&](Index i, Index j) {
        const GenerateArguments args{elements.function, elements.context, {A.row_begin(i), A.col_begin(j)}};
        s.submit(Task(Dense<T>::generate, args, write(A(i, j))));
    });
}

template <class T>
void fill(Stream& s, const MatrixView<T>& A, const LasetArguments& values) {
    const auto phase = s.phase("fill");
    for_each_tile(A, [&](Index i, Index j) {
        LasetArguments here = values;
        if (i != j) here.diagonal = values.off_diagonal;
        s.submit(tasks::laset(here, A(i, j)));
    });
}

template <class T>
void copy(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B) {
    for (const MatrixView<T>& view : {A, B})
        if (view.op() != Op::none) throw Error("a copy takes {} as it is, not transposed", view.matrix().name());
    require_same_rows(A, B, "a copy");
    require_same_rows(A.transposed(), B.transposed(), "a copy");
    const auto phase = s.phase("copy");
    for_each_tile(A, [&](Index i, Index j) { s.submit(tasks::copy(A(i, j), B(i, j))); });
}

template <class T>
void dot(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B, const MatrixView<T>& sum) {
    require_scalar(sum);
    require_whole(A, "a dot product");
    require_whole(B, "a dot product");
    if (A.op() != B.op())
        throw Error("a dot product needs {} and {} both transposed or both not", A.matrix().name(), B.matrix().name());
    require_same_rows(A, B, "a dot product");
    require_same_rows(A.transposed(), B.transposed(), "a dot product");
    const auto phase = s.phase("dot");
    s.submit(tasks::laset({}, sum(0, 0)));
    for_each_tile(A, [&](Index i, Index j) {
        s.submit(Task(Dense<T>::dot, read(A(i, j)), read(B(i, j)), reduce(sum(0, 0)))
                     .on(A(i, j).owner())
                     .at(static_cast<std::int32_t>(i), 0));
    });
}

template <class T>
void log_determinant(Stream& s, const MatrixView<T>& L, const MatrixView<T>& sum) {
    require_scalar(sum);
    require_same_rows(L, L.transposed(), "a log-determinant");
    const auto phase = s.phase("determinant");
    s.submit(tasks::laset({}, sum(0, 0)));
    for (Index i = 0; i < L.tile_rows(); ++i)
        s.submit(Task(Dense<T>::logdet, read(L(i, i)), reduce(sum(0, 0)))
                     .on(L(i, i).owner())
                     .at(static_cast<std::int32_t>(i), 0));
}

#define TESELA_INSTANTIATE_ELEMENTWISE(T)                                                         \
    template void generate(Stream&, const MatrixView<T>&, const Elements&);                       \
    template void fill(Stream&, const MatrixView<T>&, const LasetArguments&);                     \
    template void copy(Stream&, const MatrixView<T>&, const MatrixView<T>&);                      \
    template void dot(Stream&, const MatrixView<T>&, const MatrixView<T>&, const MatrixView<T>&); \
    template void log_determinant(Stream&, const MatrixView<T>&, const MatrixView<T>&)
TESELA_INSTANTIATE_ELEMENTWISE(float);
TESELA_INSTANTIATE_ELEMENTWISE(double);
#undef TESELA_INSTANTIATE_ELEMENTWISE

}  // namespace tesela
