#pragma once

namespace tesela {

/// Seconds of processor time that all threads of this process have used.
[[nodiscard]] double processor_seconds();

}  // namespace tesela
