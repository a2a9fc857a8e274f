#include "tesela/pictures/svg.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tesela::svg_test {
namespace {

TEST(Svg, EscapesMarkupAndReplacesWhatXmlForbids) {
    EXPECT_EQ(xml_escaped("a<b & \"c\" > d"), "a&lt;b &amp; &quot;c&quot; &gt; d");
    EXPECT_EQ(xml_escaped("é – 水 🗺"), "é – 水 🗺");
    EXPECT_EQ(xml_escaped("a\x01z"), "a\uFFFDz");
    EXPECT_EQ(xml_escaped("a\xff"), "a\uFFFD");
    EXPECT_EQ(xml_escaped("\xc3"), "\uFFFD");                      // cut short
    EXPECT_EQ(xml_escaped("\xc0\xaf"), "\uFFFD\uFFFD");            // overlong '/'
    EXPECT_EQ(xml_escaped("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
    EXPECT_EQ(xml_escaped("\xef\xbf\xbf"), "\uFFFD\uFFFD\uFFFD");  // U+FFFF
}

TEST(Svg, WritesNumbersShort) {
    EXPECT_EQ(svg_number(12), "12");
    EXPECT_EQ(svg_number(0.5), "0.5");
    EXPECT_EQ(svg_number(-3.256), "-3.26");
    EXPECT_EQ(svg_number(-0.001), "0");
    EXPECT_EQ(svg_number(100), "100");
}

/// "x y width height" of a picture.
std::string box_of(const std::string& svg) {
    const std::size_t begin = svg.find("viewBox=\"") + 9;
    return svg.substr(begin, svg.find('"', begin) - begin);
}

TEST(Svg, IsAsLargeAsWhatIsDrawnWithAMargin) {
    Svg svg("");
    svg.rect({-20, 10, 100, 50}, filled("#000"));
    EXPECT_EQ(svg.right(), 80);  // where the next panel may stand
    svg.circle({90, 60}, 5, filled("#000"));
    EXPECT_EQ(box_of(std::move(svg).finish()), "-32 -12 139 89");  // of -20 to 95, and 0 to 65, and 12 around them
}

TEST(Svg, HasRoomForWordsThatStandUpright) {
    Svg svg("");
    svg.text({0, 0}, "0123456789", {.size = 10, .anchor = TextAnchor::middle, .rotate = -90});  // 60 long
    EXPECT_EQ(box_of(std::move(svg).finish()), "-19.5 -42 34 84");
}

}  // namespace
}  // namespace tesela::svg_test
