#pragma once

// Written by trend_reference.R with R 4.2.2, nlme 3.1.162, gstat 2.1.0 and sp 1.6.0.
// clang-format off

#include "tesela/geo/covariance.hpp"

#include <string>
#include <vector>

namespace tesela::testing {

struct ReferenceMatrix {
    std::string formula;
    std::vector<std::string> names;
    std::vector<std::vector<double>> rows;  ///< 0, 70 and 153
    std::vector<double> sums;
};
inline std::vector<ReferenceMatrix> reference_matrices() {
    return {
        {"~ sqrt(dist) + factor(soil)",
         {"intercept", "sqrt(dist)", "factor(soil)2", "factor(soil)3"},
         {{1, 0.036851458587144149, 0, 0},
          {1, 0.32097351915695477, 0, 0},
          {1, 0.11056355638274304, 0, 1}},
         {154, 67.406847087830045, 46, 12}},
        {"~ 1",
         {"intercept"},
         {{1},
          {1},
          {1}},
         {154}},
        {"~ elev * dist + I(dist^2)",
         {"intercept", "elev", "dist", "I(dist^2)", "elev:dist"},
         {{1, 7.9089999999999998, 0.0013580300000000001, 1.8442454809000003e-06, 0.010740659270000001},
          {1, 6.4800000000000004, 0.103024, 0.010613944576000001, 0.66759552000000011},
          {1, 8.2609999999999992, 0.0122243, 0.00014943351049000002, 0.10098494229999999}},
         {154, 1258.7760000000001, 37.202621489999999, 14.948523528967742, 320.86031178646999}},
        {"~ 0 + factor(soil) + landuse",
         {"factor(soil)1", "factor(soil)2", "factor(soil)3", "landuseAb", "landuseAg", "landuseAh", "landuseAm", "landuseB", "landuseBw", "landuseDEN", "landuseFh", "landuseFw", "landuseGa", "landuseSPO", "landuseSTA", "landuseTv", "landuseW"},
         {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
          {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
          {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
         {96, 46, 12, 8, 5, 39, 22, 3, 6, 1, 1, 10, 3, 1, 2, 1, 50}},
        {"~ factor(soil):factor(ffreq) + elev - 1",
         {"elev", "factor(soil)1:factor(ffreq)1", "factor(soil)2:factor(ffreq)1", "factor(soil)3:factor(ffreq)1", "factor(soil)1:factor(ffreq)2", "factor(soil)2:factor(ffreq)2", "factor(soil)3:factor(ffreq)2", "factor(soil)1:factor(ffreq)3", "factor(soil)2:factor(ffreq)3", "factor(soil)3:factor(ffreq)3"},
         {{7.9089999999999998, 1, 0, 0, 0, 0, 0, 0, 0, 0},
          {6.4800000000000004, 1, 0, 0, 0, 0, 0, 0, 0, 0},
          {8.2609999999999992, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
         {1258.7760000000001, 51, 32, 0, 27, 11, 10, 18, 3, 2}},
        {"~ elev:landuse",
         {"intercept", "elev:landuseAa", "elev:landuseAb", "elev:landuseAg", "elev:landuseAh", "elev:landuseAm", "elev:landuseB", "elev:landuseBw", "elev:landuseDEN", "elev:landuseFh", "elev:landuseFw", "elev:landuseGa", "elev:landuseSPO", "elev:landuseSTA", "elev:landuseTv", "elev:landuseW"},
         {{1, 0, 0, 0, 7.9089999999999998, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
          {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6.4800000000000004},
          {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8.2609999999999992}},
         {154, 18.728000000000002, 60.939, 44.415999999999997, 326.99399999999997, 188.505, 24.468, 49.893000000000001, 8.8399999999999999, 9.0150000000000006, 79.471000000000004, 23.626000000000001, 7.7919999999999998, 20.210999999999999, 8.7789999999999999, 387.09899999999999}},
        {"~ factor(ffreq) + factor(ffreq):log(dist + 1)",
         {"intercept", "factor(ffreq)2", "factor(ffreq)3", "factor(ffreq)1:log(dist + 1)", "factor(ffreq)2:log(dist + 1)", "factor(ffreq)3:log(dist + 1)"},
         {{1, 0, 0, 0.0013571087112570692, 0, 0},
          {1, 0, 0, 0.098055498874173863, 0, 0},
          {1, 0, 1, 0, 0, 0.012150186622893133}},
         {154, 48, 23, 13.042221478523535, 12.99952098379206, 5.4543282329091447}},
        {"~ (elev + dist) * factor(soil) - elev",
         {"intercept", "dist", "factor(soil)2", "factor(soil)3", "elev:factor(soil)1", "elev:factor(soil)2", "elev:factor(soil)3", "dist:factor(soil)2", "dist:factor(soil)3"},
         {{1, 0.0013580300000000001, 0, 0, 7.9089999999999998, 0, 0, 0, 0},
          {1, 0.103024, 0, 0, 6.4800000000000004, 0, 0, 0, 0},
          {1, 0.0122243, 0, 1, 0, 0, 8.2609999999999992, 0, 0.0122243}},
         {154, 37.202621489999999, 46, 12, 748.18499999999995, 397.48899999999998, 113.102, 16.1148156, 6.7338222999999999}},
        {"~ landuse:elev + landuse - 1",
         {"landuseAa", "landuseAb", "landuseAg", "landuseAh", "landuseAm", "landuseB", "landuseBw", "landuseDEN", "landuseFh", "landuseFw", "landuseGa", "landuseSPO", "landuseSTA", "landuseTv", "landuseW", "landuseAa:elev", "landuseAb:elev", "landuseAg:elev", "landuseAh:elev", "landuseAm:elev", "landuseB:elev", "landuseBw:elev", "landuseDEN:elev", "landuseFh:elev", "landuseFw:elev", "landuseGa:elev", "landuseSPO:elev", "landuseSTA:elev", "landuseTv:elev", "landuseW:elev"},
         {{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7.9089999999999998, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
          {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6.4800000000000004},
          {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8.2609999999999992}},
         {2, 8, 5, 39, 22, 3, 6, 1, 1, 10, 3, 1, 2, 1, 50, 18.728000000000002, 60.939, 44.415999999999997, 326.99399999999997, 188.505, 24.468, 49.893000000000001, 8.8399999999999999, 9.0150000000000006, 79.471000000000004, 23.626000000000001, 7.7919999999999998, 20.210999999999999, 8.7789999999999999, 387.09899999999999}},
        {"~ 0 + dist + factor(soil):elev",
         {"dist", "factor(soil)1:elev", "factor(soil)2:elev", "factor(soil)3:elev"},
         {{0.0013580300000000001, 7.9089999999999998, 0, 0},
          {0.103024, 6.4800000000000004, 0, 0},
          {0.0122243, 0, 0, 8.2609999999999992}},
         {37.202621489999999, 748.18499999999995, 397.48899999999998, 113.102}},
        {"~ I((x - 180000)/1000) * log10(dist + 0.1) - 1",
         {"I((x - 180000)/1000)", "log10(dist + 0.1)", "I((x - 180000)/1000):log10(dist + 0.1)"},
         {{1.0720000000000001, -0.99414183901296993, -1.0657200514219038},
          {-0.93500000000000005, -0.69245261996130769, 0.64744319966382269},
          {0.627, -0.94991309483328612, -0.59559551046047043}},
         {0.15799999999999995, -83.491044156479518, 2.7429148814543791}},
        {"~ elev:factor(soil):dist + exp(-dist):elev + factor(soil)",
         {"intercept", "factor(soil)2", "factor(soil)3", "elev:exp(-dist)", "elev:factor(soil)1:dist", "elev:factor(soil)2:dist", "elev:factor(soil)3:dist"},
         {{1, 0, 0, 7.8982666304984726, 0.010740659270000001, 0, 0},
          {1, 0, 0, 5.8456424910568829, 0.66759552000000011, 0, 0},
          {1, 0, 1, 8.160629785393553, 0, 0, 0.10098494229999999}},
         {154, 46, 12, 994.43311446149141, 114.07904301977, 142.3635977404, 64.417671026299999}},
        {"~ landuse * factor(soil)",
         {"intercept", "landuseAb", "landuseAg", "landuseAh", "landuseAm", "landuseB", "landuseBw", "landuseDEN", "landuseFh", "landuseFw", "landuseGa", "landuseSPO", "landuseSTA", "landuseTv", "landuseW", "factor(soil)2", "factor(soil)3", "landuseAb:factor(soil)2", "landuseAg:factor(soil)2", "landuseAh:factor(soil)2", "landuseAm:factor(soil)2", "landuseB:factor(soil)2", "landuseBw:factor(soil)2", "landuseDEN:factor(soil)2", "landuseFh:factor(soil)2", "landuseFw:factor(soil)2", "landuseGa:factor(soil)2", "landuseSPO:factor(soil)2", "landuseSTA:factor(soil)2", "landuseTv:factor(soil)2", "landuseW:factor(soil)2", "landuseAb:factor(soil)3", "landuseAg:factor(soil)3", "landuseAh:factor(soil)3", "landuseAm:factor(soil)3", "landuseB:factor(soil)3", "landuseBw:factor(soil)3", "landuseDEN:factor(soil)3", "landuseFh:factor(soil)3", "landuseFw:factor(soil)3", "landuseGa:factor(soil)3", "landuseSPO:factor(soil)3", "landuseSTA:factor(soil)3", "landuseTv:factor(soil)3", "landuseW:factor(soil)3"},
         {{1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
          {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
          {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
         {154, 8, 5, 39, 22, 3, 6, 1, 1, 10, 3, 1, 2, 1, 50, 46, 12, 4, 3, 14, 7, 3, 3, 0, 1, 0, 3, 0, 0, 0, 7, 0, 0, 4, 1, 0, 0, 1, 0, 3, 0, 0, 1, 0, 2}},
        {"~ I(-dist^2 * 2 + elev/3) + y:x",
         {"intercept", "I(-dist^2 * 2 + elev/3)", "y:x"},
         {{1, 2.6363296448423714, 60407610992},
          {1, 2.138772110848, 59246162160},
          {1, 2.7533677996456865, 59641229130}},
         {154, 389.6949529420645, 9192882445404}},
        {"~ factor(soil):elev + elev:dist + dist",
         {"intercept", "dist", "factor(soil)1:elev", "factor(soil)2:elev", "factor(soil)3:elev", "elev:dist"},
         {{1, 0.0013580300000000001, 7.9089999999999998, 0, 0, 0.010740659270000001},
          {1, 0.103024, 6.4800000000000004, 0, 0, 0.66759552000000011},
          {1, 0.0122243, 0, 0, 8.2609999999999992, 0.10098494229999999}},
         {154, 37.202621489999999, 748.18499999999995, 397.48899999999998, 113.102, 320.86031178646999}},
    };
}

struct ReferenceGls {
    std::string formula;
    bool free;  ///< range and nugget were estimated too
    CovarianceParameters theta;
    double log_likelihood;
    std::vector<std::string> names;
    std::vector<double> coefficients;
    std::vector<double> standard_errors;
};
inline std::vector<ReferenceGls> reference_gls() {
    return {
        {"~ sqrt(dist) + factor(soil)", false,
         {.sigma2 = 0.18890757321110918, .range = 300, .smoothness = 0.5, .nugget = 0.047226893302777295},
         -74.502802665144827,
         {"intercept", "sqrt(dist)", "factor(soil)2", "factor(soil)3"},
         {6.9955371302609715, -2.3722094861283334, -0.14797406844876093, -0.34100428905791769},
         {0.15580659880044864, 0.29019135504076449, 0.12256471552848162, 0.17908919527972686}},
        {"~ sqrt(dist) + factor(soil)", true,
         {.sigma2 = 0.13977393406259545, .range = 189.88151798715617, .smoothness = 0.5, .nugget = 0.049148290356098967},
         -73.415819390083669,
         {"intercept", "sqrt(dist)", "factor(soil)2", "factor(soil)3"},
         {6.9809215588794729, -2.3901418279120885, -0.13343117349007491, -0.28819996523997088},
         {0.12115663554125498, 0.25389422592897376, 0.11550492566124859, 0.16936776942542439}},
        {"~ elev * dist + factor(ffreq)", false,
         {.sigma2 = 0.13607655980298966, .range = 300, .smoothness = 0.5, .nugget = 0.034019139950747415},
         -49.079687340037083,
         {"intercept", "elev", "dist", "factor(ffreq)2", "factor(ffreq)3", "elev:dist"},
         {8.2261663420106768, -0.19966700149592617, -3.443423817368136, -0.32992850953500719, -0.31619856649251588, 0.1519939930436108},
         {0.42483907577678232, 0.055843029443683773, 1.3429364095576302, 0.090497761855772435, 0.12314601661808978, 0.15435871902236978}},
        {"~ elev * dist + factor(ffreq)", true,
         {.sigma2 = 0.17659747604923445, .range = 258.58216335963198, .smoothness = 0.5, .nugget = 0.0098943826588935371},
         -48.145305904616777,
         {"intercept", "elev", "dist", "factor(ffreq)2", "factor(ffreq)3", "elev:dist"},
         {8.059038947884682, -0.17984303834613158, -2.903632679401364, -0.31536937152063288, -0.29898421427370364, 0.087458050533158971},
         {0.41426726016426257, 0.054406420645501975, 1.3286393888194172, 0.088044717996085695, 0.1189813988224258, 0.15213593124699329}},
        {"~ 0 + factor(soil) + I(dist^2)", false,
         {.sigma2 = 0.25439525777096461, .range = 300, .smoothness = 0.5, .nugget = 0.063598814442741153},
         -97.569230402144626,
         {"factor(soil)1", "factor(soil)2", "factor(soil)3", "I(dist^2)"},
         {6.3446244192125354, 5.951070172284223, 5.8843383971358811, -1.8909686946732991},
         {0.14868599168176153, 0.17577249133161438, 0.24675326612326512, 0.60648160743699142}},
        {"~ 0 + factor(soil) + I(dist^2)", true,
         {.sigma2 = 0.51509801426731261, .range = 599.13990190227514, .smoothness = 0.5, .nugget = 0.040418546407012632},
         -95.835586430202113,
         {"factor(soil)1", "factor(soil)2", "factor(soil)3", "I(dist^2)"},
         {6.4444671007908809, 6.1442679538744231, 5.996453104742443, -1.3683867255747615},
         {0.28975886290961583, 0.30303788818751892, 0.34311203928374906, 0.75079801331367679}},
        {"~ x + y + log(dist + 0.1):elev", false,
         {.sigma2 = 0.25233670991506213, .range = 300, .smoothness = 0.5, .nugget = 0.063084177478765532},
         -96.939554965680145,
         {"intercept", "x", "y", "log(dist + 0.1):elev"},
         {-7.3158783660739104, -0.00065571780991789414, 0.00039446987240024129, -0.055362890114079084},
         {36.780061087475239, 0.00022967309106578407, 0.00015861160070800863, 0.016078268753375716}},
        {"~ x + y + log(dist + 0.1):elev", true,
         {.sigma2 = 0.95415713054767637, .range = 1063.0537857263184, .smoothness = 0.5, .nugget = 0.028679093096892004},
         -95.793746380693278,
         {"intercept", "x", "y", "log(dist + 0.1):elev"},
         {13.887742753113246, -0.0012551335286822172, 0.00065962862992355049, 0.009603623159361729},
         {103.8463882089262, 0.00046866242817972031, 0.00035221642929192826, 0.019867437073308594}},
    };
}

/// Of an exponential covariance with sigma2 0.2, range 300 and nugget 0.05.
struct ReferenceUniversal {
    std::string formula;
    std::vector<double> mean;  ///< at rows 0, 499, 1499, 2499 and 3102 of the grid
    std::vector<double> variance;
};
inline std::vector<ReferenceUniversal> reference_universal() {
    return {
        {"~ sqrt(dist) + factor(soil)", {7.035750089102291, 6.4366436297716492, 4.9690394758034389, 5.4060035108781692, 6.9978031775444505},
         {0.19308033274159825, 0.11304730850139416, 0.1531119297959849, 0.14921684531694193, 0.16549327388948798}},
        {"~ dist * factor(ffreq)", {6.7839133027020111, 6.4381820033935799, 4.8015354036606537, 5.3673605904177233, 6.4107054020615655},
         {0.19043291599308995, 0.10948165500168169, 0.14278663201625241, 0.15031865550145695, 0.19378607758339511}},
        {"~ 0 + factor(soil) + dist + x", {6.7275584212917545, 6.5334080138402166, 4.8762948769204399, 5.4475017866603483, 6.5741846532480279},
         {0.19745080549525687, 0.11291940294265147, 0.15386598691348516, 0.14938321799732859, 0.16018200921677422}},
    };
}

}  // namespace tesela::testing
