"""Ground truth from a repository without a language model: of its history, its documentation, its tests."""
