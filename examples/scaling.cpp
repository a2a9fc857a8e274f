// A map from a table of distances: multidimensional scaling in a program. See docs/mds.md.
//   example_scaling data/eurodist.csv
#include "tesela/mds/scaling.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/engine.hpp"
#include "tesela/io/csv_matrix.hpp"
#include "tesela/starpu/engine.hpp"

#include <cstdio>

using namespace tesela;

static int draw(const char* file) {
    StarpuEngine engine;
    const auto distances = read_csv_matrix(file);
    Stream stream(engine, {.sums = Sums::in_order});
    const mds::Scaling map = mds::scale(stream, *distances, {.dimensions = 2});
    if (!engine.is_first()) return 0;
    std::printf("goodness of fit %.6f\n", map.fit.of_positive.low);
    for (Index i = 0; i < 3; ++i)
        std::printf("%-10s %8.1f %8.1f\n", distances->header().row_labels[static_cast<std::size_t>(i)].c_str(),
                    map.coordinate(i, 0), map.coordinate(i, 1));
    return 0;
}

int main(int argc, char** argv) {
    try {
        return argc == 2 ? draw(argv[1]) : 2;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
