"""Make the tables and figures of the published studies, by commands of Assay."""
