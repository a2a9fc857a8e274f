#include "tesela/cli/factor_options.hpp"

#include "tesela/base/error.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/sim/rank_model.hpp"

#include <CLI/CLI.hpp>

namespace tesela::cli {

void add_factor_options(CLI::App& command, FactorOptions& options) {
    at_least(command.add_option("--diagonal-tile", options.diagonal_tile,
                                "Cholesky: diagonal tiles are factorised as tiles of this size; 0: each by one task"),
             Index{0})
        ->capture_default_str();
}

void check_sent_rank(Index sent_rank, Index tile) {
    const Index most = sent_shape({tile, tile, 0}, sent_rank).rank;
    if (sent_rank > most)
        throw Error("--sent-rank must be at most {}, with which messages are as long as a whole tile of {}; it is {}",
                    most, tile, sent_rank);
}

}  // namespace tesela::cli
