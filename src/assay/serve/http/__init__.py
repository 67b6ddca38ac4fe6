"""The HTTP API and the page of `assay serve`, behind a guard."""
