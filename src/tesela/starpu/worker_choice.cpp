#include "tesela/starpu/internal/worker_choice.hpp"

#include "tesela/base/error.hpp"
#include "tesela/starpu/internal/scheduler.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tesela::starpu {
namespace {

/// A variable of StarPU's and the number it holds.
struct NumberVariable {
    const char* name = "";
    int value = 0;
};

class Chooser {
public:
    Chooser(const StarpuOptions& options, const Surroundings& machine) : options_(options), machine_(machine) {}

    WorkerChoice choose() {
        if (options_.workers < 0)
            throw Error("{} workers cannot run; give at least 1, or 0 for all cores", options_.workers);
        if (options_.resource_workers < 0)
            throw Error("{} workers cannot hold resources; give 0 or more", options_.resource_workers);
        choose_cores();
        choose_resource_workers();
        choose_gpus();
        choose_scheduler();
        return std::move(choice_);
    }

private:
    template <class... Arguments>
    void warn(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
        choice_.warnings.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
    }

    std::optional<NumberVariable> number(std::initializer_list<const char*> names) {
        for (const char* name : names) {
            const std::optional<std::string> text = machine_.environment(name);
            if (!text) continue;
            NumberVariable variable{name, 0};
            const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), variable.value);
            if (error == std::errc{} && end == text->data() + text->size()) return variable;
            warn("{}={} is not a number and is ignored", name, *text);
        }
        return std::nullopt;
    }

    void choose_cores() {
        const int share = std::max(1, machine_.usable_cores / machine_.nodes_here);
        const auto wanted = number({"STARPU_NCPU", "STARPU_NCPUS"});
        const auto reserved = number({"STARPU_RESERVE_NCPU"});
        if (options_.workers > 0) {
            choice_.cores = options_.workers;
            if (wanted && wanted->value != choice_.cores)
                warn("{}={} is overruled: {} workers were asked for", wanted->name, wanted->value, choice_.cores);
            if (reserved && reserved->value > 0)
                warn("{}={} is overruled: {} workers were asked for", reserved->name, reserved->value, choice_.cores);
        } else if (wanted && wanted->value > 0) {
            choice_.cores = wanted->value;
            if (reserved && reserved->value > 0)
                warn("{}={} is overruled: {} says how many", reserved->name, reserved->value, wanted->name);
        } else {
            if (wanted) warn("{}={} is overruled: tasks run on cores", wanted->name, wanted->value);
            choice_.cores = std::max(1, share - (reserved ? std::max(0, reserved->value) : 0));
        }
        choice_.critical = has_critical_worker(options_.critical_worker, choice_.cores);
        const bool all_cores = options_.workers == 0 && !(wanted && wanted->value > 0);
        if (choice_.critical && all_cores) choice_.cores = std::max(1, choice_.cores - 1);
        const int limit = machine_.most_cores - (choice_.critical ? 1 : 0);
        if (choice_.cores <= limit) return;
        warn(
            "{} workers wanted{}, but this StarPU was built for at most {}: using {}. ./dev setup --starpu source "
            "builds "
            "one for 64 and more.",
            choice_.cores, choice_.critical ? " and a critical one" : "", machine_.most_cores, limit);
        choice_.cores = limit;
    }

    /// As many as StarPU has left; without one, their tasks run on the cores' workers. The line per node says how many:
    /// no warning, since nothing is lost but time where a disk is slow.
    void choose_resource_workers() {
        choice_.resource = std::min(options_.resource_workers, machine_.most_cores - choice_.core_workers());
    }

    /// GPU by GPU to the nodes of the machine in turn.
    void choose_gpus() {
        const bool wanted = options_.accelerators == Accelerators::shared;
        for (const char* name : {"STARPU_NCUDA", "STARPU_NOPENCL", "STARPU_NHIP"}) {
            const auto variable = number({name});
            if (variable && variable->value > 0 && (!wanted || std::string_view(name) != "STARPU_NCUDA"))
                warn("{}={} is overruled: no kernel uses such a worker", name, variable->value);
        }
        if (!wanted) return;
        for (std::size_t g = 0; g < machine_.gpus.size(); ++g)
            if (static_cast<int>(g) % machine_.gpu_sharers == machine_.gpu_sharer)
                choice_.gpus.push_back(machine_.gpus[g]);
        const auto most = number({"STARPU_NCUDA"});
        if (most && most->value >= 0 && most->value < static_cast<int>(choice_.gpus.size()))
            choice_.gpus.resize(static_cast<std::size_t>(most->value));
    }

    void choose_scheduler() {
        const std::string wanted = machine_.environment("STARPU_SCHED").value_or("");
        if (!options_.scheduler.empty()) {
            choice_.scheduler = options_.scheduler;
            if (!wanted.empty() && wanted != choice_.scheduler)
                warn("STARPU_SCHED={} is overruled: the scheduler {} was asked for", wanted, choice_.scheduler);
        } else if (!wanted.empty()) {
            choice_.scheduler = wanted;
        } else {
            choice_.scheduler = choice_.gpus.empty() ? Scheduler::default_name() : "dmdas";
        }
    }

    const StarpuOptions& options_;
    const Surroundings& machine_;
    WorkerChoice choice_;
};

}  // namespace

WorkerChoice choose_workers(const StarpuOptions& options, const Surroundings& machine) {
    return Chooser(options, machine).choose();
}

}  // namespace tesela::starpu
