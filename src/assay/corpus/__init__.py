"""Walk a folder, read what is text, and cut it into chunks that can be found."""
