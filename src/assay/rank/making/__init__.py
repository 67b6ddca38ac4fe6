"""Programs to learn from: sampled from models, and wrong ones made from right ones."""
