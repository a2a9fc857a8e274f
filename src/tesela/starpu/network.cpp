#include "tesela/starpu/network.hpp"

namespace tesela {

NetworkTimes measure_network(StarpuEngine& engine, const NetworkOptions& options) {
    return measure_network(engine.together(), options);
}

std::vector<std::string> gather_texts(StarpuEngine& engine, const std::string& text) {
    return engine.together().gather(text);
}

}  // namespace tesela
