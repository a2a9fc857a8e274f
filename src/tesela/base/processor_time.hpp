#pragma once

namespace tesela {

/// Seconds of processor time that all threads of this process have used.
[[nodiscard]] double processor_seconds();
/// That this thread has used: what else the machine does counts little.
[[nodiscard]] double thread_seconds();

}  // namespace tesela
