#include "soak/fault_job.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>

namespace tesela::bench {
namespace {

constexpr const char* mark_variable = "TESELA_FAULT_RUN";
constexpr double start_limit = 60;  // seconds until the fault
constexpr double settle_limit = 1;  // seconds in which processes may still go when mpirun has ended

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

/// How to start nodes: the words of $TESELA_MPIRUN, or Open MPI's mpirun.
std::vector<std::string> launcher() {
    std::istringstream words(environment("TESELA_MPIRUN").value_or("mpirun --oversubscribe --bind-to none"));
    return {std::istream_iterator<std::string>(words), {}};
}

std::vector<std::string> command_line(const FaultRun& run, const std::filesystem::path& stamp) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    std::vector<std::string> words = launcher();
    for (const std::string& word :
         {std::string("-n"), fmt::format("{}", run.nodes), self, std::string("fault"), std::string("--fault"),
          run.fault, std::string("--seed"), fmt::format("{}", run.seed), std::string("--stamp"), stamp.string()})
        words.push_back(word);
    return words;
}

/// Standard input, output and error are nothing: runs that fail have much to say.
class Silence {
public:
    Silence() {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    ~Silence() { posix_spawn_file_actions_destroy(&actions_); }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
    Silence(Silence&&) = delete;
    Silence& operator=(Silence&&) = delete;
    [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

pid_t start(std::vector<std::string> command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    const Silence silence;
    pid_t process = -1;
    const int code = posix_spawnp(&process, arguments[0], silence.actions(), nullptr, arguments.data(), environ);
    if (code != 0) throw Error("cannot start mpirun: {}", std::strerror(code));
    return process;
}

/// Open MPI refuses to run as root unless told so; who started this program as root has decided already.
void allow_root() {
    if (geteuid() != 0) return;
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
}

bool is_number(const std::string& name) {
    return std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

FaultJob::FaultJob(const FaultRun& run)
    : folder_(std::filesystem::temp_directory_path() / fmt::format("tesela-soak-{}-{}", getpid(), run.seed)),
      mark_(fmt::format("{}-{}", getpid(), run.seed)) {
    std::filesystem::create_directories(folder_);
    allow_root();
    setenv(mark_variable, mark_.c_str(), 1);
    mpirun_ = start(command_line(run, folder_ / "stamp"));
}

FaultJob::~FaultJob() {
    end_processes();
    if (!ended_) waitpid(mpirun_, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

FaultEnd FaultJob::wait(double seconds_after_fault) {
    FaultEnd end;
    const double started = now();
    while (!has_ended()) {
        read_stamp(end);
        if (end.was_reached() ? now() > struck_ + seconds_after_fault : now() > started + start_limit) break;
        rest();
    }
    const double stopped = now();
    read_stamp(end);
    if (end.was_reached()) end.seconds = stopped - struck_;
    end.exit_code = exit_code_;
    while (ended_ && !processes().empty() && now() < stopped + settle_limit) rest();
    end.processes_left = end_processes();
    return end;
}

bool FaultJob::has_ended() {
    int status = 0;
    if (ended_ || waitpid(mpirun_, &status, WNOHANG) != mpirun_) return ended_;
    ended_ = true;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

void FaultJob::read_stamp(FaultEnd& end) {
    std::ifstream file(folder_ / "stamp");
    Index node = 0;
    Index step = 0;
    if (!end.was_reached() && file >> node >> step >> struck_) {
        end.node = node;
        end.step = step;
    }
}

std::vector<pid_t> FaultJob::processes() const {
    const std::string wanted = fmt::format("{}={}", mark_variable, mark_) + '\0';
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const std::string name = entry.path().filename().string();
        if (is_number(name) && text_of(entry.path() / "environ").find(wanted) != std::string::npos)
            found.push_back(static_cast<pid_t>(std::stol(name)));
    }
    return found;
}

Index FaultJob::end_processes() {
    const std::vector<pid_t> left = processes();
    for (const pid_t process : left) kill(process, SIGKILL);
    return static_cast<Index>(left.size());
}

}  // namespace tesela::bench
