#Writes data/*.csv: variables with coordinates from data sets of R's packages gstat, sp, MASS and fields, which tesela
# bench fits fits. Columns that are no numbers and rows with a missing value are left out; concentrations are logarithms.
#   Rscript bench/fits/collect.R bench/fits/data
folder <- commandArgs(trailingOnly = TRUE)[1]
keep <- function(name, table, coordinates, values, logarithms = c()) {
  table <- as.data.frame(table)
  for (v in logarithms) table[[v]] <- log(table[[v]])
  table <- na.omit(table[, c(coordinates, values, logarithms)])
  names(table)[1:2] <- c("x", "y")
  table <- table[!duplicated(table[, c("x", "y")]), ]
  write.csv(format(table, digits = 10, trim = TRUE), file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
}
data(meuse, package = "sp")
keep("meuse", meuse, c("x", "y"), c("elev", "om"), c("cadmium", "copper", "lead", "zinc"))
data(jura, package = "gstat")
keep("jura", prediction.dat, c("Xloc", "Yloc"), c("Co", "Ni"), c("Cd", "Cr", "Cu", "Pb", "Zn"))
data(pcb, package = "gstat")
keep("pcb", pcb[pcb$year == 1996, ], c("x", "y"), c("depth"), c("PCB138"))
keep("pcb_all", pcb, c("x", "y"), c(), c("PCB138"))
data(coalash, package = "gstat")
keep("coalash", coalash, c("x", "y"), c("coalash"))
data(oxford, package = "gstat")
keep("oxford", oxford, c("XCOORD", "YCOORD"), c("CEC1", "PH1"), c("PHOS1", "POT1", "MG1"))
data(topo, package = "MASS")
keep("topo", topo, c("x", "y"), c("z"))
data(ozone2, package = "fields")
keep("ozone", data.frame(x = ozone2$lon.lat[, 1], y = ozone2$lon.lat[, 2], day16 = ozone2$y[16, ], day40 = ozone2$y[40, ]), c("x", "y"), c("day16", "day40"))
