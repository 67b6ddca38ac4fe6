"""What is served to programs and to browsers on this machine."""
