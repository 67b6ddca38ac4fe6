"""Read and write at the edge of the program: rows of files, atomic writes, locks, HTTP requests, processes."""
