#pragma once

#include <string>
#include <string_view>

namespace tesela::bench {

/// Which code makes a table, on which machine and when, as one line: "commit: …; machine: MODEL, CORES, ARCHITECTURE;
/// date: …". The commit is the one that was checked out when this was built, with a word if files differed from it, or
/// "unknown"; the machine is the one that calls; the date is now, in UTC.
[[nodiscard]] std::string origin();

/// The model of the processor in the text of /proc/cpuinfo, with the numbers that tell apart what virtual machines name
/// alike; or "unknown processor".
[[nodiscard]] std::string processor_model(std::string_view cpuinfo);

}  // namespace tesela::bench
