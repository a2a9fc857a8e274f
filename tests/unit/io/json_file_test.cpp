#include "tesela/io/json_file.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace tesela::json_file_test {
namespace {

std::string reading(const TemporaryDirectory& directory, const std::string& text) {
    put(directory.path("model.json"), text);
    return message_of<Error>([&] { (void)read_json_file(directory.path("model.json")); });
}

TEST(JsonFile, ReadsBackWhatItWroteWithKeysInOrder) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("model.json");
    const nlohmann::ordered_json value{{"theta", {{"sigma2", 0.1}, {"range", 1.0 / 3}}}, {"a", {1, 2.5, "é\n"}}};
    write_json_file(path, value);
    const std::string text = get(path);
    EXPECT_LT(text.find("\"theta\""), text.find("\"a\""));
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(read_json_file(path), nlohmann::json(value));
    EXPECT_EQ(directory.entries(), std::set<std::string>{"model.json"});
}

TEST(JsonFile, TakesAPlainValueToo) {
    const TemporaryDirectory directory;
    const nlohmann::json value{{"loglik", -12.5}};
    write_json_file(directory.path("fit.json"), value);
    EXPECT_EQ(read_json_file(directory.path("fit.json")), value);
}

TEST(JsonFile, ErrorsNameFileLineAndColumn) {
    const TemporaryDirectory directory;
    const std::string prefix = fmt::format("'{}'", directory.path("model.json"));
    EXPECT_EQ(reading(directory, "{\n  \"a\": 1,\n  \"b\": x\n}").rfind(prefix + ", line 3, column 8: ", 0), 0U);
    EXPECT_EQ(reading(directory, "}").rfind(prefix + ", line 1, column 1: ", 0), 0U);
    EXPECT_EQ(reading(directory, "[1,\n2").rfind(prefix + ", line 2, column 2: ", 0), 0U);
    EXPECT_EQ(reading(directory, "[1,\n\n2] ?").rfind(prefix + ", line 3, column 4: ", 0), 0U);
    EXPECT_EQ(reading(directory, "[1e999]").rfind(prefix, 0), 0U);
    EXPECT_EQ(reading(directory, std::string(30000, '[') + std::string(30000, ']')),
              prefix + " has values nested more than 100 deep");
    EXPECT_EQ(reading(directory, R"({"a": {"b": 1}, "c": [{"b": 1}, {"b": 2}], "a": 2})"),
              prefix + " has the key \"a\" twice in one object");
    EXPECT_NO_THROW((void)parse_json(R"({"a": {"b": 1}, "c": [{"b": 1}, {"b": 2}]})", "model.json"));
    EXPECT_EQ(reading(directory, " \n"), prefix + " is empty; a JSON value is expected");
}

TEST(JsonFile, AMissingFileIsNamed) {
    const std::string message = message_of<Error>([] { (void)read_json_file("/nonexistent/model.json"); });
    EXPECT_EQ(message, "cannot read '/nonexistent/model.json': No such file or directory");
}

TEST(JsonFile, TextThatJsonCannotHoldLeavesNoFile) {
    const TemporaryDirectory directory;
    const std::string message = message_of<Error>([&] {
        write_json_file(directory.path("out.json"), {{"column", "\xff"}});
    });
    EXPECT_NE(message.find("out.json"), std::string::npos) << message;
    EXPECT_NE(message.find("UTF-8"), std::string::npos) << message;
    EXPECT_TRUE(directory.entries().empty());
}

}  // namespace
}  // namespace tesela::json_file_test
