#include "shared/scalapack.hpp"

#include "tesela/base/error.hpp"

#include <array>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridmap(int* context, int* map, int ld, int rows, int cols);
void Cblacs_gridexit(int context);
void pdgemr2d_(const int* m, const int* n, const double* a, const int* ia, const int* ja, const int* desc_a, double* b,
               const int* ib, const int* jb, const int* desc_b, const int* context);
void pdpotrf_(const char* triangle, const int* n, double* a, const int* ia, const int* ja, const int* desc, int* info);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desc_a, const double* b, const int* ib,
             const int* jb, const int* desc_b, const double* beta, double* c, const int* ic, const int* jc,
             const int* desc_c);
}

namespace tesela::bench {

bool has_scalapack() { return true; }

BlacsGrid::BlacsGrid(GridSize size) : size_(size) {
    constexpr int system_default = 0;
    Cblacs_get(-1, system_default, &context_);
    Cblacs_gridinit(&context_, "Row", static_cast<int>(size.rows), static_cast<int>(size.cols));
}

BlacsGrid::~BlacsGrid() {
    if (has_this_node()) Cblacs_gridexit(context_);
}

void pdgemr2d(const ScalapackMatrix& from, ScalapackMatrix& to, const ScalapackMove& move, const BlacsGrid& all) {
    const std::array<int, 2> size{static_cast<int>(move.size.i), static_cast<int>(move.size.j)};
    const std::array<int, 2> a{static_cast<int>(move.from_offset.i) + 1, static_cast<int>(move.from_offset.j) + 1};
    const std::array<int, 2> b{static_cast<int>(move.to_offset.i) + 1, static_cast<int>(move.to_offset.j) + 1};
    const int context = all.context();
    pdgemr2d_(&size[0], &size[1], from.local.data(), &a[0], &a[1], from.layout.descriptor.data(), to.local.data(),
              &b[0], &b[1], to.layout.descriptor.data(), &context);
}

void pdpotrf(ScalapackMatrix& a) {
    const auto n = static_cast<int>(a.layout.size().i);
    const int one = 1;
    int info = 0;
    pdpotrf_("L", &n, a.local.data(), &one, &one, a.layout.descriptor.data(), &info);
    if (info != 0) throw Error("pdpotrf failed with {}", info);
}

void pdgemm(const ScalapackMatrix& a, const ScalapackMatrix& b, ScalapackMatrix& c) {
    const auto m = static_cast<int>(c.layout.size().i);
    const auto n = static_cast<int>(c.layout.size().j);
    const auto k = static_cast<int>(a.layout.size().j);
    const int one = 1;
    const double alpha = 1;
    const double beta = 0;
    pdgemm_("N", "N", &m, &n, &k, &alpha, a.local.data(), &one, &one, a.layout.descriptor.data(), b.local.data(), &one,
            &one, b.layout.descriptor.data(), &beta, c.local.data(), &one, &one, c.layout.descriptor.data());
}

}  // namespace tesela::bench
