#include "tesela/flow/task.hpp"

#include "tesela/base/error.hpp"

namespace tesela {

void Task::throw_too_many(const Kernel& kernel, std::size_t count) {
    throw Error("a task of {} cannot use {} tiles: at most {}", kernel.name, count, max_accesses);
}

}  // namespace tesela
