"""The parts of the report page: what it reads, its sections, its template, style and script."""
