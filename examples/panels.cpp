// Threads read a matrix from a file, panel by panel, and find its largest element. See docs/matrix_files.md.
//   example_panels D.h5:/distance
#include "tesela/base/error.hpp"
#include "tesela/io/hdf5/open_matrix.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

using namespace tesela;

namespace {

/// What the threads share.
struct Search {
    const MatrixFile& matrix;
    std::atomic<Index> next_panel{0};
    std::mutex mutex{};
    double largest = 0;
    std::string failure{};
};

/// Takes panels until there are none left.
void search_panels(Search& search) {
    const MatrixFile& matrix = search.matrix;
    const Index height = matrix.panel_rows(500);
    std::vector<double> panel(static_cast<std::size_t>(height * matrix.cols()));
    for (Index row = height * search.next_panel++; row < matrix.rows(); row = height * search.next_panel++) {
        const MatrixBlock block{.row = row, .rows = std::min(height, matrix.rows() - row), .cols = matrix.cols()};
        const ReadOutcome outcome = matrix.read(block, ColumnMajor<double>{panel.data(), block.rows});

        const std::lock_guard lock(search.mutex);
        if (!outcome) search.failure = outcome.reason();
        search.largest = std::max(search.largest, *std::max_element(panel.begin(), panel.end()));
    }
}

int largest_element(const char* name) {
    const auto matrix = open_matrix(name);
    Search search{.matrix = *matrix};
    {
        std::vector<std::jthread> readers;
        for (int r = 0; r < 2; ++r) readers.emplace_back([&] { search_panels(search); });
    }
    if (!search.failure.empty()) throw Error(search.failure);
    std::printf("%s: largest element %g\n", matrix->description().c_str(), search.largest);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return largest_element(argc > 1 ? argv[1] : "D.h5");
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
