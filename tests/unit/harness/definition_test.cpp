#include "shared/definition.hpp"

#include "support/redistribution.hpp"
#include "tesela/flow/inline_engine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tesela::definition_test {
namespace {

using testing::any_redistribution;
using testing::Redistribution;

// The definition by which `tesela bench redistribute --check` judges, beside what moved.
RC_GTEST_PROP(Definition, SaysWhatARedistributionMoves, ()) {
    InlineEngine engine(3);
    const Redistribution r = any_redistribution();
    RC_LOG() << r.name();
    // The test's triangle is that of the view, the definition's that of the matrix under it.
    const Part part = r.part == Part::lower && r.op == Op::transpose ? Part::upper : r.part;
    const bench::RedistributionDefinition definition{r.size, r.from_offset, r.to_offset, part, r.op};
    const std::vector<double> values = testing::run_redistribution<double>(engine, r);
    const ElementIndex size = r.to.size();
    for (Index j = 0; j < size.j; ++j)
        for (Index i = 0; i < size.i; ++i) {
            const auto source = definition.source_of({i, j});
            const double kept = r.target_has_values ? testing::target_element(nullptr, {i, j}) : 0;
            const double expected = source ? testing::source_element(nullptr, *source) : kept;
            RC_ASSERT(values[static_cast<std::size_t>(i + j * size.i)] == expected);
        }
}

}  // namespace
}  // namespace tesela::definition_test
