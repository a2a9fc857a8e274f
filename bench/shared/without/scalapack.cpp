#include "shared/scalapack.hpp"

#include "tesela/base/error.hpp"

namespace tesela::bench {
namespace {
[[noreturn]] void no_scalapack() { throw Error("this tesela-bench was built without ScaLAPACK"); }
}  // namespace

bool has_scalapack() { return false; }
BlacsGrid::BlacsGrid(GridSize size) : size_(size) { no_scalapack(); }
BlacsGrid::~BlacsGrid() = default;
void pdgemr2d(const ScalapackMatrix&, ScalapackMatrix&, const ScalapackMove&, const BlacsGrid&) { no_scalapack(); }
void pdpotrf(ScalapackMatrix&) { no_scalapack(); }
void pdgemm(const ScalapackMatrix&, const ScalapackMatrix&, ScalapackMatrix&) { no_scalapack(); }

}  // namespace tesela::bench
