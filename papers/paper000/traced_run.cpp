#include "paper000/traced_run.hpp"

#include "tesela/sim/schedule_trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace tesela::bench {
namespace {

/// A folder that is removed again.
class OwnFolder {
public:
    OwnFolder() : path_(std::filesystem::temp_directory_path() / fmt::format("tesela-paper000-{}", ::getpid())) {
        std::filesystem::create_directories(path_);
    }
    ~OwnFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    OwnFolder(const OwnFolder&) = delete;
    OwnFolder& operator=(const OwnFolder&) = delete;
    [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

}  // namespace

TitledTrace traced_run(const std::string& title, const Platform& platform, CriticalWorker critical,
                       const std::function<void(ScheduleObserver& observer)>& simulate) {
    const OwnFolder folder;
    const std::string file = folder.file("run.trace");
    ScheduleTrace trace({.path = file, .modules = trace::parse_modules("tasks,memory")}, platform, critical);
    simulate(trace);
    trace.close();
    return {title, trace::read_trace(file)};
}

TracePicture evaluation_picture(const std::string& title) {
    return {.title = title,
            .parts = {{"generation", {"generate"}}, {"Cholesky", {"cholesky"}}},
            .rest = "determinant, solve, product",
            .steps_of = {"Cholesky"},
            .steps_label = "step of Cholesky"};
}

TracePicture scaling_picture(const std::string& title) {
    return {.title = title,
            .by = PictureBy::kernel,
            .parts = {{"reading", {"dread"}},
                      {"tiles from panels", {"dtake"}},
                      {"squares and sums", {"dgram"}},
                      {"product", {"dgemm"}},
                      {"centring", {"dcentre"}}},
            .rest = "others",
            .steps_of = {"reading", "product"},
            .steps_label = "row of tiles"};
}

}  // namespace tesela::bench
