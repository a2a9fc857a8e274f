#pragma once

#include "tesela/sim/schedule.hpp"

#include <vector>

namespace tesela::sim {

template <class Record>
void tell(const std::vector<ScheduleObserver*>& observers, void (ScheduleObserver::*method)(const Record&),
          const Record& record) {
    for (ScheduleObserver* observer : observers) (observer->*method)(record);
}

}  // namespace tesela::sim
