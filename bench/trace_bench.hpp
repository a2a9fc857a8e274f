#pragma once

#include "tesela/starpu/engine.hpp"
#include "tesela/trace/trace.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace tesela::bench {

struct TraceOptions {
    Index n = 4000;
    Index tile = 256;
    int repetitions = 7;
    /// Tasks of the trace that is read and converted; 0 leaves that out.
    Index tasks = 1'000'000;
    /// Where the traces go while they are measured.
    std::string folder = "/tmp";
    /// Conversions to measure, by name; more than those of tesela::io where the build has them.
    std::map<std::string, void (*)(const trace::Trace&, const std::string&)> conversions = usual_conversions();

    [[nodiscard]] static std::map<std::string, void (*)(const trace::Trace&, const std::string&)> usual_conversions();
};

/// What tracing costs: Cholesky traced and untraced, interleaved, best of each; nanoseconds per record that one thread
/// puts; and how long a large trace takes to be summarised and converted.
[[nodiscard]] nlohmann::ordered_json trace_benchmark(StarpuEngine& engine, const TraceOptions& options);

}  // namespace tesela::bench
