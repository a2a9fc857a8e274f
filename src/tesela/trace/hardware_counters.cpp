#include "tesela/trace/hardware_counters.hpp"

#include "tesela/base/error.hpp"

#ifdef TESELA_HAS_PAPI

#include <papi.h>
#include <pthread.h>

namespace tesela::trace {
namespace {

std::vector<std::string> split(const std::string& names) {
    std::vector<std::string> list;
    std::size_t begin = 0;
    while (begin <= names.size()) {
        const std::size_t end = std::min(names.find(',', begin), names.size());
        if (end > begin) list.push_back(names.substr(begin, end - begin));
        begin = end + 1;
    }
    return list;
}

void check(int code, const std::string& what) {
    if (code != PAPI_OK)
        throw Error(
            "hardware counters: {}: {}. Leave out the trace module papi, or allow counting (see perf_event_paranoid).",
            what, PAPI_strerror(code));
}

/// The counting of one thread; stopped when the thread ends.
class ThreadCounters {
public:
    void start(const std::vector<int>& codes) {
        if (tried_) return;
        tried_ = true;
        if (PAPI_create_eventset(&set_) != PAPI_OK) return;
        for (const int code : codes)
            if (PAPI_add_event(set_, code) != PAPI_OK) return;
        counts_ = PAPI_start(set_) == PAPI_OK;
    }
    [[nodiscard]] HardwareCounters::Values read() const {
        std::array<long long, HardwareCounters::most> raw{};
        HardwareCounters::Values values{};
        if (counts_ && PAPI_read(set_, raw.data()) == PAPI_OK)
            for (std::size_t k = 0; k < raw.size(); ++k) values[k] = raw[k];
        return values;
    }
    ~ThreadCounters() {
        if (counts_) PAPI_stop(set_, nullptr);
    }
    ThreadCounters() = default;
    ThreadCounters(const ThreadCounters&) = delete;
    ThreadCounters& operator=(const ThreadCounters&) = delete;

private:
    int set_ = PAPI_NULL;
    bool tried_ = false;
    bool counts_ = false;
};

ThreadCounters& of_this_thread() {
    thread_local ThreadCounters counters;
    return counters;
}

}  // namespace

HardwareCounters::HardwareCounters(const std::string& names) : names_(split(names)) {
    if (names_.empty() || names_.size() > most)
        throw Error("between 1 and {} hardware counters can be recorded; '{}' names {}", most, names, names_.size());
    if (PAPI_is_initialized() == PAPI_NOT_INITED) {
        const int version = PAPI_library_init(PAPI_VER_CURRENT);
        if (version != PAPI_VER_CURRENT)
            throw Error("hardware counters: PAPI does not start: {}", PAPI_strerror(version));
        check(PAPI_thread_init([] { return static_cast<unsigned long>(pthread_self()); }), "threads");
    }
    int probe = PAPI_NULL;
    check(PAPI_create_eventset(&probe), "no set of counters");
    for (const std::string& name : names_) {
        int code = 0;
        check(PAPI_event_name_to_code(name.c_str(), &code), name);
        check(PAPI_add_event(probe, code), name);
        codes_.push_back(code);
    }
    PAPI_cleanup_eventset(probe);
    PAPI_destroy_eventset(&probe);
}

HardwareCounters::Values HardwareCounters::read() const noexcept {
    ThreadCounters& counters = of_this_thread();
    counters.start(codes_);
    return counters.read();
}

}  // namespace tesela::trace

#else

namespace tesela::trace {

HardwareCounters::HardwareCounters(const std::string& names) {
    throw Error(
        "hardware counters ({}) cannot be recorded: this build has no PAPI. Install libpapi-dev and build again, or "
        "leave out the trace module papi.",
        names);
}

HardwareCounters::Values HardwareCounters::read() const noexcept { return {}; }

}  // namespace tesela::trace

#endif
