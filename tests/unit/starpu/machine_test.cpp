#include "tesela/starpu/internal/machine.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace tesela::starpu::machine_test {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;
const std::string no_limit_in_version_1 = "9223372036854771712";

std::string in_gib(double count) { return std::to_string(static_cast<long long>(count * gib)); }

/// A folder with files of the kernel as some machine has them.
class Memory : public ::testing::Test {
public:
    Memory() = default;
    ~Memory() override { std::filesystem::remove_all(root_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    Memory(Memory&&) = delete;
    Memory& operator=(Memory&&) = delete;

protected:
    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << '\n';
    }
    struct Group {
        std::string limit;
        double used_gib = 0;
    };
    void write_version_1(const std::string& path, const Group& group) const {
        write("sys/fs/cgroup/memory" + path + "/memory.limit_in_bytes", group.limit);
        write("sys/fs/cgroup/memory" + path + "/memory.usage_in_bytes", in_gib(group.used_gib));
    }
    void write_version_2(const std::string& path, const Group& group) const {
        write("sys/fs/cgroup" + path + "/memory.max", group.limit);
        write("sys/fs/cgroup" + path + "/memory.current", in_gib(group.used_gib));
    }
    [[nodiscard]] double groups() const { return memory_of_control_groups(root_).bytes / gib; }
    [[nodiscard]] const std::filesystem::path& root() const { return root_; }

private:
    std::filesystem::path root_ =
        std::filesystem::temp_directory_path() / ("tesela-memory-" + std::to_string(getpid()));
};

TEST_F(Memory, OfTheMachineIsWhatTheKernelCallsAvailable) {
    write("proc/meminfo",
          "MemTotal:       65000000 kB\nMemFree:  1000 kB\nMemAvailable:   2097152 kB\nHugePages_Total: 0");
    EXPECT_EQ(memory_of_machine(root()), 2 * gib);
    EXPECT_EQ(available_memory({}, root()), std::min(2 * gib, memory_of_address_space(root())));
}

TEST_F(Memory, HasNoLimitWhereNothingSaysOne) {
    EXPECT_TRUE(std::isinf(memory_of_machine(root())));
    EXPECT_TRUE(std::isinf(memory_of_control_groups(root()).bytes));
    write("proc/meminfo", "MemTotal: 1 kB");
    write("proc/self/cgroup", "0::/user.slice\n");
    EXPECT_TRUE(std::isinf(memory_of_machine(root())));
    EXPECT_TRUE(std::isinf(memory_of_control_groups(root()).bytes));
}

TEST_F(Memory, OfVersion2IsTheLimitLessWhatIsUsed) {
    write("proc/self/cgroup", "0::/job");
    write_version_2("/job", {in_gib(3), 1});
    EXPECT_EQ(groups(), 2);
    write_version_2("/job", {"max", 1});
    EXPECT_TRUE(std::isinf(groups()));
    write_version_2("/job", {in_gib(3), 4});
    EXPECT_EQ(groups(), 0);
}

TEST_F(Memory, OfVersion2IsLimitedByEveryGroupAround) {
    write("proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_1/step_0/user/task_0");
    write_version_2("/system.slice/slurmstepd.scope/job_1/step_0/user/task_0", {"max", 1});
    write_version_2("/system.slice/slurmstepd.scope/job_1/step_0", {in_gib(8), 1});
    write_version_2("/system.slice/slurmstepd.scope/job_1", {in_gib(6), 2});
    write_version_2("/system.slice", {in_gib(100), 90});
    write_version_2("/system.slice/another", {in_gib(1), 0});
    EXPECT_EQ(groups(), 4);
    write_version_2("", {in_gib(10), 7});
    EXPECT_EQ(groups(), 3);
}

TEST_F(Memory, OfVersion1IsThatOfItsMemoryController) {
    write("proc/self/cgroup",
          "9:name=systemd:/\n4:cpuset,memory:/slurm/uid_0/job_1/step_0/task_0\n3:memoryless:/other\n0::/");
    write_version_1("/slurm/uid_0/job_1/step_0/task_0", {no_limit_in_version_1, 1});
    write_version_1("/slurm/uid_0/job_1/step_0", {in_gib(4), 1});
    write_version_1("/slurm/uid_0/job_1", {in_gib(4), 1.5});
    write_version_1("/slurm", {no_limit_in_version_1, 9});
    write_version_1("/other", {in_gib(1), 0});
    EXPECT_EQ(groups(), 2.5);
    write_version_1("/slurm/uid_0/job_1", {no_limit_in_version_1, 0});
    write_version_1("/slurm/uid_0/job_1/step_0", {no_limit_in_version_1, 0});
    EXPECT_TRUE(std::isinf(groups()));
}

TEST_F(Memory, TimeOfCoresIsTheLeastThatAGroupLeaves) {
    EXPECT_TRUE(std::isinf(cores_of_control_groups(root()).cores));
    write("proc/self/cgroup", "3:cpu,cpuacct:/jobs/one\n4:memory:/elsewhere\n0::/");
    write("sys/fs/cgroup/cpu/jobs/one/cpu.cfs_quota_us", "-1");
    write("sys/fs/cgroup/cpu/jobs/one/cpu.cfs_period_us", "100000");
    EXPECT_TRUE(std::isinf(cores_of_control_groups(root()).cores));
    write("sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us", "3000");
    write("sys/fs/cgroup/cpu/jobs/cpu.cfs_period_us", "5000");
    EXPECT_EQ(cores_of_control_groups(root()).cores, 0.6);
    EXPECT_EQ(cores_of_control_groups(root()).group, (root() / "sys/fs/cgroup/cpu/jobs").string());
    write("proc/self/cgroup", "0::/kube/pod");
    write("sys/fs/cgroup/kube/pod/cpu.max", "max 100000");
    EXPECT_TRUE(std::isinf(cores_of_control_groups(root()).cores));
    write("sys/fs/cgroup/kube/cpu.max", "250000 100000");
    EXPECT_EQ(cores_of_control_groups(root()).cores, 2.5);
}

TEST_F(Memory, OfAContainerIsReadThoughItsPathIsThatOfTheHost) {
    write("proc/self/cgroup", "4:memory:/docker/0123abcd\n0::/docker/0123abcd");
    write_version_1("", {in_gib(2), 1});
    EXPECT_EQ(groups(), 1);
    write("proc/self/cgroup", "0::/../../elsewhere:with a colon");
    write_version_2("/elsewhere:with a colon", {in_gib(0.5), 0});
    EXPECT_EQ(groups(), 0.5);
}

TEST_F(Memory, ThatHoldsFilesOfTheCacheIsFree) {
    write("proc/self/cgroup", "0::/job");
    write_version_2("/job", {in_gib(4), 3});
    write("sys/fs/cgroup/job/memory.stat", "anon 1000\nfile 99\ninactive_file " + in_gib(2) + "\nactive_file 7");
    EXPECT_EQ(groups(), 3);
    write("sys/fs/cgroup/job/memory.stat", "inactive_file " + in_gib(5));
    EXPECT_EQ(groups(), 4);
    write("proc/self/cgroup", "4:memory:/job");
    write_version_1("/job", {in_gib(4), 3});
    write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 0\ntotal_inactive_file " + in_gib(1));
    EXPECT_EQ(groups(), 2);
}

TEST_F(Memory, IsTheLeastOfAll) {
    write("proc/meminfo", "MemAvailable: 1048576 kB");
    write("proc/self/cgroup", "4:memory:/a\n0::/b");
    write_version_1("/a", {in_gib(3), 0});
    write_version_2("/b", {in_gib(2), 0});
    EXPECT_EQ(memory_of_control_groups(root()).bytes, 2 * gib);
    EXPECT_LE(available_memory({}, root()), gib);
    write("proc/meminfo", "MemAvailable: 4194304 kB");
    EXPECT_LE(available_memory({}, root()), 2 * gib);
}

/// Bytes of addresses in use by this process.
double addresses_in_use() {
    std::ifstream file("/proc/self/statm");
    double pages = 0;
    file >> pages;
    return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// What a child with so much room for addresses finds, compared with it: 0 is right.
int look_with_room_for(double bytes) {
    const auto most = static_cast<rlim_t>(addresses_in_use() + bytes);
    const rlimit limit{.rlim_cur = most, .rlim_max = most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
    const double left = memory_of_address_space();
    if (!(left > 0.5 * bytes && left <= bytes)) return 2;
    return available_memory({}) <= left ? 0 : 3;
}

TEST(AddressSpace, ThatIsLimitedLeavesWhatIsNotInUse) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(look_with_room_for(0.25 * gib));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(AvailableMemory, OfThisMachineIsANumber) {
    EXPECT_GT(available_memory({}), 0);
    EXPECT_TRUE(std::isfinite(available_memory({})));
}

}  // namespace
}  // namespace tesela::starpu::machine_test
