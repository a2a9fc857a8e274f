#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// Throws CLI::ValidationError where a file that the command writes is another of its arguments too: what it reads
/// would be lost, or one of two results.
void require_files_of_their_own(const CLI::App& command);

}  // namespace tesela::cli
