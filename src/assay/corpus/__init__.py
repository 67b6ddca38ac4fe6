"""Walk a folder, read its text files, and cut them into chunks to search."""
