"""What an experiment found, made to tables and figures: for a page, for Markdown, for a terminal."""
