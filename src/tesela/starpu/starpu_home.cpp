#include "tesela/starpu/internal/starpu_home.hpp"

#include "tesela/base/digest.hpp"
#include "tesela/base/error.hpp"
#include "tesela/starpu/internal/machine.hpp"

#include <nlohmann/json.hpp>

#include <starpu.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>

namespace tesela::starpu {
namespace {

namespace fs = std::filesystem;

/// More than StarPU writes: 6 KB with 16 memories, and a few hundred bytes for each pair of GPUs.
constexpr std::size_t room = std::size_t{256} << 10U;

fs::path files_in(const fs::path& home) { return home / ".starpu" / "sampling" / "bus"; }

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Whether all of it is there: disks that are full take the beginning.
bool write_whole(const fs::path& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    return !file.fail();
}

std::uint64_t digest_of_files(const std::map<std::string, std::string>& files) {
    Digest digest;
    for (const auto& [name, text] : files)
        for (const char letter : name + '\0' + text + '\0') digest.add(static_cast<unsigned char>(letter));
    return digest.value();
}

std::string packed(const fs::path& folder) {
    std::map<std::string, std::string> files;
    std::error_code gone;
    for (const auto& file : fs::directory_iterator(folder, gone))
        files[file.path().filename().string()] = text_of(file.path());
    return nlohmann::json{{"format", "tesela-starpu-bus"}, {"files", files}, {"digest", digest_of_files(files)}}.dump(
        1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Nothing of what is damaged: then StarPU measures anew.
void unpack(const std::string& text, const fs::path& folder) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) return;
    try {
        const auto files = json.at("files").get<std::map<std::string, std::string>>();
        if (json.at("digest").get<std::uint64_t>() != digest_of_files(files)) return;
        for (const auto& [name, content] : files) write_whole(folder / fs::path(name).filename(), content);
    } catch (const nlohmann::json::exception&) {
        return;
    }
}

constexpr const char* home_prefix = "tesela-starpu-";

/// Removes what programs left that a signal ended while they started; none takes an hour.
void remove_left(const fs::path& place) {
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(place, none)) {
        if (!entry.path().filename().string().starts_with(home_prefix)) continue;
        std::error_code gone;
        if (const auto written = fs::last_write_time(entry.path(), gone); !gone && written < long_ago)
            fs::remove_all(entry.path(), gone);
    }
}

/// A new folder in which there is room, or nothing: errno says why.
std::optional<fs::path> new_home(const fs::path& place) {
    remove_left(place);
    std::string name = (place / home_prefix).string() + "XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return std::nullopt;
    std::error_code failed;
    fs::create_directories(files_in(name), failed);
    const fs::path trial = files_in(name) / "trial";
    errno = failed.value();
    if (!failed && write_whole(trial, std::string(room, ' '))) {
        fs::remove(trial, failed);
        return name;
    }
    const int reason = errno;
    fs::remove_all(name, failed);
    errno = reason;
    return std::nullopt;
}

fs::path first_home(const std::vector<fs::path>& places) {
    std::string tried;
    for (const fs::path& place : places) {
        if (const auto home = new_home(place)) return *home;
        tried += fmt::format("{}{} ({})", tried.empty() ? "" : ", ", place.string(), std::strerror(errno));
    }
    throw Error(
        "StarPU needs {} KiB for files while it starts, and has them nowhere: {}; make room, or name another folder by "
        "TMPDIR",
        room >> 10U, tried);
}

}  // namespace

HomePlaces home_places() {
    HomePlaces places{{"/dev/shm"}, {}};
    std::error_code none;
    if (const fs::path temporary = fs::temp_directory_path(none); !none) places.folders.push_back(temporary);
    const std::string cache = user_cache_folder();
    if (cache.empty()) return places;
    int major = 0, minor = 0, release = 0;
    starpu_get_version(&major, &minor, &release);
    places.kept = fs::path(cache) / "starpu-bus" / fmt::format("{}-{}.{}.{}.json", host_name(), major, minor, release);
    return places;
}

/// StarPU's own folder comes from the first of these variables that is set.
StarpuHome::StarpuHome(HomePlaces places)
    : kept_(std::move(places.kept)),
      folder_(first_home(places.folders)),
      variables_{Meanwhile("STARPU_PERF_MODEL_DIR"), Meanwhile("STARPU_PERF_MODEL_PATH"), Meanwhile("XDG_CACHE_HOME"),
                 Meanwhile("STARPU_HOME", folder_.string())} {
    std::error_code none;
    if (fs::exists(kept_, none) && !fs::is_regular_file(kept_, none)) kept_.clear();  // a pipe may never answer
    if (kept_.empty()) return;
    kept_text_ = text_of(kept_);
    unpack(kept_text_, files());
}

StarpuHome::~StarpuHome() {
    std::error_code gone;
    fs::remove_all(folder_, gone);
}

fs::path StarpuHome::files() const { return files_in(folder_); }

void StarpuHome::keep() const {
    if (kept_.empty()) return;
    const std::string text = packed(files());
    if (text == kept_text_) return;
    std::error_code failed;
    fs::create_directories(kept_.parent_path(), failed);
    const fs::path aside = fmt::format("{}.{}", kept_.string(), getpid());  // others may keep theirs now
    if (write_whole(aside, text)) fs::rename(aside, kept_, failed);
    fs::remove(aside, failed);
}

}  // namespace tesela::starpu
