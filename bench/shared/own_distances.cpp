#include "shared/own_distances.hpp"

#include "tesela/io/hdf5/write_matrix.hpp"
#include "tesela/mds/sample_distances.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace tesela::bench {

OwnDistances::OwnDistances(Engine& engine, const std::string& folder, Index points) : is_mine_(engine.is_first()) {
    path_ = engine.broadcast(fmt::format("{}/tesela-mds-{}.h5", folder, ::getpid()));
    if (is_mine_) {
        const auto writer =
            write_matrix(path_ + ":/distance", {.rows = points, .cols = points, .type = StoredType::float32});
        mds::write_distances({.points = points}, *writer);
        writer->commit();
    }
    engine.barrier();
}

OwnDistances::~OwnDistances() {
    if (!is_mine_) return;
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
}

}  // namespace tesela::bench
