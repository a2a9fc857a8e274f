#include "tesela/io/otf2/trace_otf2.hpp"

#include "tesela/base/error.hpp"

namespace tesela {

void export_otf2(const trace::Trace&, const std::string& path) {
    throw Error(
        "cannot write {}: this build has no OTF2. Install libotf2-trace-dev and build again, or export to another "
        "format.",
        path);
}

}  // namespace tesela
