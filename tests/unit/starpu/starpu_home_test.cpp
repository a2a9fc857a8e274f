#include "tesela/starpu/internal/starpu_home.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace tesela::starpu::starpu_home_test {
namespace {

using ::testing::HasSubstr;

const std::string measured = "# to 0\t\n0.000000e+00\tnan\t\n";

/// Where StarPU's home is to be in these tests, and what is kept.
class Homes : public ::testing::Test {
protected:
    [[nodiscard]] HomePlaces places() const { return {{memory.path()}, cache.path("kept/host.json")}; }
    /// As StarPU does at a first start.
    void measure_and_keep() const {
        const StarpuHome home(places());
        put(home.files() / "host.latency", measured);
        home.keep();
    }
    /// What a start finds.
    [[nodiscard]] std::string found() const { return get(StarpuHome(places()).files() / "host.latency"); }

    TemporaryDirectory memory;
    TemporaryDirectory cache;
};

TEST_F(Homes, AreOfOneStartAloneAndGoWithIt) {
    setenv("XDG_CACHE_HOME", "/somewhere", 1);
    {
        const StarpuHome first(places());
        const StarpuHome second(places());
        EXPECT_NE(first.files(), second.files());
        EXPECT_TRUE(std::filesystem::is_directory(second.files()));
        EXPECT_THAT(second.files(), HasSubstr(std::getenv("STARPU_HOME")));
        EXPECT_EQ(std::getenv("XDG_CACHE_HOME"), nullptr);
    }
    EXPECT_TRUE(memory.entries().empty());
    EXPECT_STREQ(std::getenv("XDG_CACHE_HOME"), "/somewhere");
    unsetenv("XDG_CACHE_HOME");
}

TEST_F(Homes, HaveWhatWasKeptOfEarlierStarts) {
    EXPECT_EQ(found(), "");
    measure_and_keep();
    EXPECT_EQ(found(), measured);
    EXPECT_EQ(cache.entries(), std::set<std::string>{"kept"}) << "something lies beside what is kept";
}

TEST_F(Homes, StartAnewWhereWhatWasKeptIsDamaged) {
    measure_and_keep();
    const std::string kept = places().kept;
    const std::string whole = get(kept);
    for (std::size_t size = 0; size < whole.size(); size += 7) {
        put(kept, whole.substr(0, size));
        EXPECT_EQ(found(), "") << "cut to " << size << " bytes";
    }
    std::string other = whole;
    other.replace(other.find("0.0000"), 6, "0.0001");
    put(kept, other);
    EXPECT_EQ(found(), "");
    put(kept, R"({"files": {"host.latency": 3}, "digest": -1})");
    EXPECT_EQ(found(), "");
    measure_and_keep();
    EXPECT_EQ(get(kept), whole);
}

TEST_F(Homes, AreWhereThereIsRoom) {
    const StarpuHome home({{"/proc", "/nonexistent", memory.path()}, "/proc/kept"});
    EXPECT_THAT(home.files().string(), HasSubstr(memory.path()));
    home.keep();  // nowhere, which does not matter
    try {
        const StarpuHome none({{"/proc", "/nonexistent"}, {}});
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("/nonexistent (No such file or directory)"));
        EXPECT_THAT(error.what(), HasSubstr("TMPDIR"));
    }
}

}  // namespace
}  // namespace tesela::starpu::starpu_home_test
