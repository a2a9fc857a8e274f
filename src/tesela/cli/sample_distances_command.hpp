#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela sample-distances`: distances between random points, to try multidimensional scaling on.
void add_sample_distances_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
