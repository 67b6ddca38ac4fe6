"""Sample programs for tasks from models."""
