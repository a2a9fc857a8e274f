#include "tesela/base/near_word.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tesela::near_word_test {
namespace {

const std::vector<std::string> columns{"x", "y", "zinc", "log_zinc"};

TEST(NearestWord, IsTheOneWithTheFewestChanges) {
    EXPECT_EQ(nearest_word("zink", columns), "zinc");
    EXPECT_EQ(nearest_word("logzinc", columns), "log_zinc");
}

TEST(NearestWord, TakesExchangedNeighboursForOneMistake) {
    const std::vector<std::string> commands{"fit", "info", "dist", "trace"};
    EXPECT_EQ(nearest_word("fti", commands), "fit");
    EXPECT_EQ(nearest_word("ift", commands), "fit");
    EXPECT_EQ(nearest_word("tarce", commands), "trace");
    EXPECT_EQ(nearest_word("tif", commands), std::nullopt);
}

TEST(NearestWord, DoesNotMindCapitals) { EXPECT_EQ(nearest_word("Y", columns), "y"); }

TEST(NearestWord, IsNoneWhereAllAreFarAway) {
    EXPECT_EQ(nearest_word("cadmium", columns), std::nullopt);
    EXPECT_EQ(nearest_word("zinc", {}), std::nullopt);
    EXPECT_EQ(did_you_mean("cadmium", columns), "");
    EXPECT_EQ(did_you_mean("zin", columns), "; did you mean zinc?");
}

}  // namespace
}  // namespace tesela::near_word_test
