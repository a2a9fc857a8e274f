#include "tesela/starpu/internal/worker_choice.hpp"
#include "tesela/base/error.hpp"
#include "tesela/starpu/internal/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace tesela::starpu::worker_choice_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::map<std::string, std::string> variables;
std::optional<std::string> look_up(const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
}

WorkerChoice choose(const Surroundings& asked, const std::map<std::string, std::string>& environment = {},
                    const StarpuOptions& options = {}) {
    variables = environment;
    Surroundings machine = asked;
    machine.environment = look_up;
    if (machine.most_cores == 1) machine.most_cores = 256;
    return choose_workers(options, machine);
}

TEST(WorkerChoice, TakesAllCoresAndDividesThemAmongTheNodesOfAMachine) {
    EXPECT_EQ(choose({.usable_cores = 16}).cores, 16);
    EXPECT_EQ(choose({.usable_cores = 16, .nodes_here = 4}).cores, 4);
    EXPECT_EQ(choose({.usable_cores = 2, .nodes_here = 4}).cores, 1);
    EXPECT_THAT(choose({.usable_cores = 16}).warnings, IsEmpty());
}

TEST(WorkerChoice, SaysSoWhenStarpuCanUseFewerCores) {
    const WorkerChoice choice = choose({.usable_cores = 16, .most_cores = 4});
    EXPECT_EQ(choice.cores, 4);
    EXPECT_THAT(choice.warnings, ElementsAre(HasSubstr("16 workers wanted, but this StarPU was built for at most 4")));
    const WorkerChoice critical =
        choose({.usable_cores = 16, .most_cores = 4}, {}, {.critical_worker = CriticalWorker::shared_core});
    EXPECT_EQ(critical.cores, 3);
    EXPECT_EQ(critical.core_workers(), 4);
}

TEST(WorkerChoice, LeavesACoreToSubmissionAndCriticalTasks) {
    const StarpuOptions shared{.critical_worker = CriticalWorker::shared_core};
    const WorkerChoice sixteen = choose({.usable_cores = 16}, {}, shared);
    EXPECT_EQ(sixteen.cores, 15);
    EXPECT_EQ(sixteen.core_workers(), 16);
    EXPECT_EQ(choose({.usable_cores = 16, .nodes_here = 4}, {}, shared).cores, 3);
    EXPECT_EQ(choose({.usable_cores = 1}, {}, shared).cores, 1);
    // Who says how many gets as many, and the critical one besides.
    EXPECT_EQ(choose({.usable_cores = 16}, {{"STARPU_NCPU", "5"}}, shared).cores, 5);
    EXPECT_EQ(choose({.usable_cores = 2}, {}, {.workers = 2, .critical_worker = CriticalWorker::shared_core}).cores, 2);
}

TEST(WorkerChoice, AddsWorkersForResourcesToTheCoresAsFarAsStarpuHasRoom) {
    const auto on = [](int most_cores, int wanted) {
        return choose({.usable_cores = 2, .most_cores = most_cores}, {}, {.resource_workers = wanted});
    };
    EXPECT_EQ(on(64, 5).cores, 2);
    EXPECT_EQ(on(64, 5).resource, 5);
    EXPECT_EQ(on(64, 5).core_workers(), 7);
    EXPECT_EQ(on(4, 5).resource, 2);
    EXPECT_EQ(on(2, 5).resource, 0);
    EXPECT_THROW((void)on(64, -1), Error);
}

TEST(WorkerChoice, SharesACoreByItselfOnlyWhereThereAreEnough) {
    const StarpuOptions automatic{.critical_worker = CriticalWorker::automatic};
    const auto on = [&](int cores, int nodes = 1) {
        return choose({.usable_cores = cores, .nodes_here = nodes}, {}, automatic);
    };
    const int enough = least_cores_to_share_one;
    EXPECT_TRUE(on(enough).critical);
    EXPECT_EQ(on(enough).cores, enough - 1);
    EXPECT_FALSE(on(enough - 1).critical);
    EXPECT_EQ(on(enough - 1).cores, enough - 1);
    EXPECT_FALSE(on(2).critical);
    EXPECT_FALSE(on(2 * enough - 1, 2).critical);
    EXPECT_TRUE(on(2 * enough, 2).critical);
}

TEST(WorkerChoice, RespectsTheEnvironmentWhereNoOptionIsGiven) {
    EXPECT_EQ(choose({.usable_cores = 16}, {{"STARPU_NCPU", "5"}}).cores, 5);
    EXPECT_EQ(choose({.usable_cores = 16}, {{"STARPU_NCPUS", "6"}}).cores, 6);
    EXPECT_EQ(choose({.usable_cores = 16}, {{"STARPU_RESERVE_NCPU", "2"}}).cores, 14);
    EXPECT_EQ(choose({.usable_cores = 2}, {{"STARPU_RESERVE_NCPU", "9"}}).cores, 1);
    EXPECT_EQ(choose({}, {{"STARPU_SCHED", "lws"}}).scheduler, "lws");
    EXPECT_EQ(choose({}, {{"STARPU_SCHED", ""}}).scheduler, "streams");
    EXPECT_THAT(choose({.usable_cores = 16}, {{"STARPU_NCPU", "5"}, {"STARPU_SCHED", "lws"}}).warnings, IsEmpty());
}

TEST(WorkerChoice, OverrulesTheEnvironmentWithAWarning) {
    const WorkerChoice choice = choose({.usable_cores = 16}, {{"STARPU_NCPU", "5"}, {"STARPU_SCHED", "lws"}},
                                       {.workers = 3, .scheduler = "prio"});
    EXPECT_EQ(choice.cores, 3);
    EXPECT_EQ(choice.scheduler, "prio");
    EXPECT_THAT(choice.warnings,
                ElementsAre(HasSubstr("STARPU_NCPU=5 is overruled"), HasSubstr("STARPU_SCHED=lws is overruled")));
    EXPECT_THAT(choose({}, {{"STARPU_NCPU", "3"}}, {.workers = 3}).warnings, IsEmpty());
    EXPECT_THAT(choose({}, {{"STARPU_NCPU", "0"}}).warnings, ElementsAre(HasSubstr("STARPU_NCPU=0 is overruled")));
    EXPECT_THAT(choose({}, {{"STARPU_NCPU", "many"}}).warnings, ElementsAre(HasSubstr("STARPU_NCPU=many is not")));
}

TEST(WorkerChoice, LeavesAcceleratorsAloneUnlessTheyAreWanted) {
    EXPECT_THAT(choose({.gpus = {0, 1}}).gpus, IsEmpty());
    const WorkerChoice choice = choose({.gpus = {0}}, {{"STARPU_NCUDA", "1"}, {"STARPU_NOPENCL", "0"}});
    EXPECT_THAT(choice.gpus, IsEmpty());
    EXPECT_THAT(choice.warnings, ElementsAre(HasSubstr("STARPU_NCUDA=1 is overruled")));
}

TEST(WorkerChoice, DividesAcceleratorsAmongTheNodesOfAMachine) {
    const auto share = [](int nodes, int number, std::vector<int> gpus) {
        return choose({.gpu_sharers = nodes, .gpu_sharer = number, .gpus = std::move(gpus)}, {},
                      {.accelerators = Accelerators::shared})
            .gpus;
    };
    EXPECT_THAT(share(1, 0, {0, 1, 2}), ElementsAre(0, 1, 2));
    EXPECT_THAT(share(2, 0, {0, 1, 2}), ElementsAre(0, 2));
    EXPECT_THAT(share(2, 1, {0, 1, 2}), ElementsAre(1));
    EXPECT_THAT(share(4, 3, {0, 1, 2}), IsEmpty());
    EXPECT_EQ(choose({.gpus = {0}}, {}, {.accelerators = Accelerators::shared}).scheduler, "dmdas");
    EXPECT_EQ(choose({}, {}, {.accelerators = Accelerators::shared}).scheduler, "streams");
}

TEST(WorkerChoice, DividesCoresAlsoWhereGpusHaveBeenDividedAlready) {
    const WorkerChoice choice =
        choose({.usable_cores = 16, .nodes_here = 4, .gpus = {0}}, {}, {.accelerators = Accelerators::shared});
    EXPECT_EQ(choice.cores, 4);
    EXPECT_THAT(choice.gpus, ElementsAre(0));
}

TEST(Cores, ThatSeveralThreadsShareCountOnce) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("tesela-cores-" + std::to_string(getpid()));
    for (int processor = 0; processor < 8; ++processor) {
        const auto topology = folder / ("cpu" + std::to_string(processor)) / "topology";
        std::filesystem::create_directories(topology);
        std::ofstream(topology / "thread_siblings_list") << processor % 4 << ',' << processor % 4 + 4 << '\n';
    }
    EXPECT_EQ(count_cores({0, 1, 2, 3, 4, 5, 6, 7}, folder), 4);
    EXPECT_EQ(count_cores({0, 4, 5}, folder), 2);
    EXPECT_EQ(count_cores({0, 1, 2}, folder / "nothing"), 3);
    std::filesystem::remove_all(folder);
}

TEST(WorkerChoice, RefusesANegativeNumberOfWorkers) { EXPECT_THROW(choose({}, {}, {.workers = -1}), Error); }

}  // namespace
}  // namespace tesela::starpu::worker_choice_test
