#include "tesela/starpu/network.hpp"

namespace tesela {

NetworkTimes measure_network(StarpuEngine& engine, const NetworkOptions& options) {
    return measure_network(engine.together(), options);
}

}  // namespace tesela
