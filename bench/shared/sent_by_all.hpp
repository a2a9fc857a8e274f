#pragma once

#include "tesela/starpu/engine.hpp"

namespace tesela::bench {

/// What all nodes have sent together since they started.
struct SentInAll {
    double messages = 0;
    double bytes = 0;
};
/// Every node calls it.
[[nodiscard]] inline SentInAll sent_by_all(StarpuEngine& engine) {
    SentInAll here;
    for (const StarpuEngine::Sent& to : engine.sent()) {
        here.messages += static_cast<double>(to.messages);
        here.bytes += static_cast<double>(to.bytes);
    }
    SentInAll all;
    for (const double messages : engine.Engine::gather(here.messages)) all.messages += messages;
    for (const double bytes : engine.Engine::gather(here.bytes)) all.bytes += bytes;
    return all;
}

}  // namespace tesela::bench
