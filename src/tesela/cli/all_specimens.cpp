#include "tesela/cli/all_specimens.hpp"

#include "tesela/calibration/calibrate.hpp"
#include "tesela/geo/specimens.hpp"
#include "tesela/mds/specimens.hpp"

namespace tesela::cli {

std::vector<Specimen> all_specimens() { return joined({calibration::specimens(), geo::specimens(), mds::specimens()}); }

}  // namespace tesela::cli
