"""What runs in the sandbox; nothing here imports anything of the package."""
