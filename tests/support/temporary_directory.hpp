#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

/// An empty directory that goes away with the object.
class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string name = testing::TempDir() + "tesela-io-XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
        path_ = name;
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] std::string path() const { return path_.string(); }
    [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
    /// Names of everything in it, hidden files included.
    [[nodiscard]] std::set<std::string> entries() const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) names.insert(entry.path().filename());
        return names;
    }

private:
    std::filesystem::path path_;
};

/// Written and read without the code under test.
inline void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

inline std::string get(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The text of the exception that a call throws; the test fails if it throws none, another, or one of several lines.
template <class Exception, class Call>
std::string message_of(Call call) {
    try {
        call();
    } catch (const Exception& error) {
        const std::string text = error.what();
        EXPECT_EQ(text.find('\n'), std::string::npos) << "more than one line: " << text;
        return text;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}
