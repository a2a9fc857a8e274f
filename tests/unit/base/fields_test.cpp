#include "tesela/base/fields.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tesela::fields_test {
namespace {

template <class T>
std::uint64_t seen(const T& value) {
    Digest digest;
    add_fields(digest, value);
    return digest.value();
}

enum class Colour : std::uint8_t { red, green };
struct Point {
    double x = 0;
    float y = 0;
};
struct Everything {
    bool flag = false;
    Colour colour = Colour::red;
    std::int8_t small = 0;
    Point point{};
    std::array<Point, 2> points{};
    std::optional<std::int64_t> maybe{};
    unsigned bits : 3 = 0;
    const double* where = nullptr;
    double (*function)(double) = nullptr;
};

TEST(Fields, AreAllSeenButPointers) {
    const Everything none;
    const auto changed = [&](auto change) {
        Everything one;
        change(one);
        return seen(one) != seen(none);
    };
    EXPECT_TRUE(changed([](Everything& e) { e.flag = true; }));
    EXPECT_TRUE(changed([](Everything& e) { e.colour = Colour::green; }));
    EXPECT_TRUE(changed([](Everything& e) { e.small = -1; }));
    EXPECT_TRUE(changed([](Everything& e) { e.point.y = 1; }));
    EXPECT_TRUE(changed([](Everything& e) { e.points[1].x = 1; }));
    EXPECT_TRUE(changed([](Everything& e) { e.maybe = 0; }));
    EXPECT_TRUE(changed([](Everything& e) { e.bits = 2; }));
    EXPECT_FALSE(changed([&](Everything& e) { e.where = &none.point.x; }));
    EXPECT_FALSE(changed([](Everything& e) { e.function = std::sqrt; }));
}

TEST(Fields, NumbersAreSeenByTheirBits) {
    EXPECT_NE(seen(0.0), seen(-0.0));
    EXPECT_EQ(seen(std::numeric_limits<double>::quiet_NaN()), seen(std::numeric_limits<double>::quiet_NaN()));
    EXPECT_NE(seen(1.0F), seen(std::nextafter(1.0F, 2.0F)));
}

class Hidden {
public:
    explicit Hidden(int number) : number_(number) {}
    [[nodiscard]] auto fields() const { return std::tie(number_); }

private:
    int number_;
    int cache_ = 0;
};
struct WithHidden {
    Hidden hidden{1};
    int other = 0;
};

TEST(Fields, AreListedByAClassThatHidesThem) {
    EXPECT_NE(seen(Hidden(1)), seen(Hidden(2)));
    EXPECT_NE(seen(WithHidden{}), seen(WithHidden{.hidden = Hidden(2)}));
}

}  // namespace
}  // namespace tesela::fields_test
