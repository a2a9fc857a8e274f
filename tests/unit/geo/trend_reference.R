# Writes data/meuse_covariates.csv and data/meuse_grid_covariates.csv from R's package sp, and the figures that R has for
# trends in their columns: model matrices (stats), generalised least squares by maximum likelihood (nlme) and universal
# kriging (gstat), as trend_reference.hpp.
#   LC_ALL=C Rscript tests/unit/geo/trend_reference.R data tests/unit/geo/trend_reference.hpp
suppressMessages({ library(sp); library(nlme); library(gstat) })
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
data(meuse); data(meuse.grid)
meuse$log_zinc <- log(meuse$zinc)
columns <- c("x", "y", "zinc", "log_zinc", "elev", "dist", "ffreq", "soil", "landuse")
write.csv(meuse[, columns], file.path(folder, "meuse_covariates.csv"), row.names = FALSE, quote = FALSE)
write.csv(meuse.grid[, c("x", "y", "dist", "ffreq", "soil")], file.path(folder, "meuse_grid_covariates.csv"), row.names = FALSE, quote = FALSE)
all <- read.csv(file.path(folder, "meuse_covariates.csv"))
grid <- read.csv(file.path(folder, "meuse_grid_covariates.csv"))

numbers <- function(v) paste0("{", paste(sprintf("%.17g", v), collapse = ", "), "}")
texts <- function(v) paste0("{", paste0('"', sub("(Intercept)", "intercept", v, fixed = TRUE), '"', collapse = ", "), "}")
code <- c()
say <- function(...) code <<- c(code, paste0(...))

say("#pragma once\n")
say("// Written by trend_reference.R with R ", getRversion(), ", nlme ", packageVersion("nlme"), ", gstat ", packageVersion("gstat"),
    " and sp ", packageVersion("sp"), ".\n// clang-format off\n")
say('#include "tesela/geo/covariance.hpp"\n\n#include <string>\n#include <vector>\n')
say("namespace tesela::testing {\n")

# Matrices of the 154 rows with a land use: names, three rows, and the sums of columns.
d <- na.omit(all)
say("struct ReferenceMatrix {\n    std::string formula;\n    std::vector<std::string> names;\n    std::vector<std::vector<double>> rows;  ///< 0, 70 and 153\n    std::vector<double> sums;\n};")
say("inline std::vector<ReferenceMatrix> reference_matrices() {\n    return {")
for (f in c("~ sqrt(dist) + factor(soil)", "~ 1", "~ elev * dist + I(dist^2)", "~ 0 + factor(soil) + landuse",
            "~ factor(soil):factor(ffreq) + elev - 1", "~ elev:landuse", "~ factor(ffreq) + factor(ffreq):log(dist + 1)",
            "~ (elev + dist) * factor(soil) - elev", "~ landuse:elev + landuse - 1", "~ 0 + dist + factor(soil):elev",
            "~ I((x - 180000)/1000) * log10(dist + 0.1) - 1", "~ elev:factor(soil):dist + exp(-dist):elev + factor(soil)",
            "~ landuse * factor(soil)", "~ I(-dist^2 * 2 + elev/3) + y:x", "~ factor(soil):elev + elev:dist + dist")) {
  X <- model.matrix(as.formula(f), d)
  say('        {"', f, '",\n         ', texts(colnames(X)), ",\n         {", paste(apply(X[c(1, 71, 154), , drop = FALSE], 1, numbers), collapse = ",\n          "),
      "},\n         ", numbers(colSums(X)), "},")
}
say("    };\n}\n")

# The correlation of corExp with a nugget n is (1 - n) exp(-r/range) for r > 0. The standard errors of gls have a factor
# sqrt(N/(N - p)) for the estimated variance, which is taken out here: those of a known covariance are wanted.
say("struct ReferenceGls {\n    std::string formula;\n    bool free;  ///< range and nugget were estimated too\n    CovarianceParameters theta;\n    double log_likelihood;\n    std::vector<std::string> names;\n    std::vector<double> coefficients;\n    std::vector<double> standard_errors;\n};")
say("inline std::vector<ReferenceGls> reference_gls() {\n    return {")
for (f in c("~ sqrt(dist) + factor(soil)", "~ elev * dist + factor(ffreq)", "~ 0 + factor(soil) + I(dist^2)", "~ x + y + log(dist + 0.1):elev"))
  for (free in c(FALSE, TRUE)) {
    fit <- gls(update(as.formula(f), log_zinc ~ .), all, method = "ML",
               correlation = corExp(c(300, 0.2), form = ~ x + y, nugget = TRUE, fixed = !free),
               control = glsControl(tolerance = 1e-12, msTol = 1e-14, maxIter = 500, msMaxIter = 500))
    p <- coef(fit$modelStruct$corStruct, unconstrained = FALSE)
    if (!free) p <- c(300, 0.2)
    N <- nrow(all); k <- length(coef(fit))
    errors <- sqrt(diag(vcov(fit)) * (N - k) / N)
    say('        {"', f, '", ', if (free) "true" else "false", ",\n         {.sigma2 = ", sprintf("%.17g", fit$sigma^2 * (1 - p[2])),
        ", .range = ", sprintf("%.17g", p[1]), ", .smoothness = 0.5, .nugget = ", sprintf("%.17g", fit$sigma^2 * p[2]), "},\n         ",
        sprintf("%.17g", as.numeric(logLik(fit))), ",\n         ", texts(names(coef(fit))), ",\n         ", numbers(coef(fit)), ",\n         ", numbers(errors), "},")
  }
say("    };\n}\n")

say("/// Of an exponential covariance with sigma2 0.2, range 300 and nugget 0.05.\nstruct ReferenceUniversal {\n    std::string formula;\n    std::vector<double> mean;  ///< at rows 0, 499, 1499, 2499 and 3102 of the grid\n    std::vector<double> variance;\n};")
say("inline std::vector<ReferenceUniversal> reference_universal() {\n    return {")
coordinates(all) <- ~ x + y; coordinates(grid) <- ~ x + y
for (f in c("~ sqrt(dist) + factor(soil)", "~ dist * factor(ffreq)", "~ 0 + factor(soil) + dist + x")) {
  k <- krige(update(as.formula(f), log_zinc ~ .), all, grid[c(1, 500, 1500, 2500, 3103), ], vgm(0.2, "Exp", 300, 0.05), debug.level = 0)
  say('        {"', f, '", ', numbers(k$var1.pred), ",\n         ", numbers(k$var1.var), "},")
}
say("    };\n}\n")
say("}  // namespace tesela::testing")
writeLines(code, arguments[2])
