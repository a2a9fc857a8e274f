#pragma once

#include "tesela/base/index.hpp"
#include "tesela/base/names.hpp"

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace tesela::bench {

/// How a node leaves the others in the middle of a stream. `thrown`: an exception that its main function catches;
/// `exited`: std::exit; `returned`: out of the function that owns the stream, as if all were done; `killed`: SIGKILL.
/// `opens`, `waits`, `meets`: it goes another way, opening a stream, waiting for another one, or asking for something
/// that all nodes do together; `reads`: it reads a value more than the others; `swaps`: it does two steps in the other
/// order. `error`: all nodes throw the same Error at the same step. `none`: nothing happens.
enum class Fault : std::uint8_t { none, thrown, exited, returned, killed, opens, waits, meets, reads, swaps, error };

inline constexpr Names<Fault, 11> fault_names{{{Fault::none, "none"},
                                               {Fault::thrown, "throw"},
                                               {Fault::exited, "exit"},
                                               {Fault::returned, "return"},
                                               {Fault::killed, "kill"},
                                               {Fault::opens, "opens"},
                                               {Fault::waits, "waits"},
                                               {Fault::meets, "meets"},
                                               {Fault::reads, "reads"},
                                               {Fault::swaps, "swaps"},
                                               {Fault::error, "error"}}};

struct FaultOptions {
    Fault fault = Fault::none;
    /// Chooses the node that fails and the step of the first rounds before which it does.
    std::uint64_t seed = 1;
    /// Where the failing node says, just before, which node it is, at which step, and the time by steady_clock in
    /// seconds; nowhere if empty.
    std::string stamp;
    /// A round factorises a matrix, gives its tiles to other nodes, redistributes it and gathers it.
    Index rounds = 5;
};

/// Adds --fault, --seed, --stamp and --rounds.
void add_fault_options(CLI::App& command, FaultOptions& options);

/// A whole program for mpirun in which one node fails: what main returns. 0 after all rounds and for `returned`, 2 for
/// an Error, 3 for `thrown`, 4 for `exited`.
[[nodiscard]] int run_fault_program(const FaultOptions& options);

}  // namespace tesela::bench
