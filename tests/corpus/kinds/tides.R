#' Tide helpers
library(R6)

TIDE_CONSTANT <- 12.42

high_water <- function(start, n = 3) {
  start + seq_len(n) * TIDE_CONSTANT
}

low_water = function(start) high_water(start) - TIDE_CONSTANT / 2

`%between%` <- function(x, rng) x >= rng[1] & x <= rng[2]

function(df) tidy_levels(df) -> ignored

print.tide_table <- function(x, ...) {
  fmt_row <- function(r) paste(r, collapse = " ")
  cat(fmt_row(x), "\n")
  invisible(x)
}

TideStation <- R6Class("TideStation",
  public = list(
    name = NULL,
    initialize = function(name) {
      self$name <- name
    },
    forecast = function(days = 2) {
      private$fetch_levels(days)
    }
  ),
  private = list(
    fetch_levels = function(days) numeric(days)
  )
)

setClass("Buoy", representation(id = "character"))
setGeneric("anchor", function(obj, ...) standardGeneric("anchor"))
setMethod("anchor", "Buoy", function(obj, ...) obj@id)
