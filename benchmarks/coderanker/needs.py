"""What each table and figure of the paper shows, and what it needs at the paper's size."""

from __future__ import annotations

RANKER = "390,000 programs, 30 epochs of 512 tokens in batches of 512 (22,900 steps), 192 GPU hours (V100)"
"""One ranker of section 4.3: 12 hours on 16 of them."""
TITLES = {
    "table2": "How the programs that rankers learn from are distributed",
    "table3": "Programs with their labels",
    "table4": "Classes of execution errors (tables 4 and 12, figure 2)",
    "table5": "Classes of intent errors (tables 5 and 13, figure 3)",
    "figure6": "How frequent each class is",
    "table6": "How the best ranker of each generating model does on the validation tasks",
    "table7": "The same rankers on the test tasks",
    "table8": "The same rankers on HumanEval, of which they learned nothing",
    "table9": "The same rankers on MBPP, of which they learned nothing",
    "table10": "The best ranker of each generating model",
    "table11": "Samples of several temperatures",
    "table14": "What rankers learn to predict (tables 14 and 15)",
    "table16": "What rankers learn from: one model's programs, another's, or a mix (table 16 and figure 5)",
    "table17": "Base models: encoders and decoders (table 17 and figure 8)",
    "table18": "Prompts with and without their example tests",
    "shares": "What more programs bring (not in the paper)",
    "table19": "The generating model's own probability as a ranker",
    "figure4": "Ranked pass@1 on the validation tasks in training",
    "figure7": "Ranked exec@1 on the validation tasks in training",
}
_ALL = f"20 rankers (4 models, 5 tasks), each {RANKER}"
_RUNS = "running 3.7 million programs of 10,000 tasks (4 models, 100 samples a task) in the sandbox"
NEEDS = {
    "table2": f"{_RUNS}.",
    "table3": "The programs of table 2.",
    "table4": "The programs of table 2.",
    "table5": "The programs of table 2.",
    "figure6": "The training programs of table 2.",
    "table6": f"{_ALL}; 60,000 programs a model to rank.",
    "table7": "The rankers of table 6; 500,000 programs a model to rank.",
    "table8": "The rankers of table 6; 16,400 programs a model to rank.",
    "table9": "The rankers of table 6; 50,000 programs a model to rank.",
    "table10": "The rankers of table 6.",
    "table11": "The rankers of table 6; 66,400 programs of Codex at two temperatures.",
    "table14": "The rankers of table 6.",
    "table16": f"The rankers of table 6, and 10 of mixes: 5 each {RANKER}, 5 of 1.5 million programs, four times that.",
    "table17": "The ternary ranker of CodeBERT, one of GPT-Neo 125M, about as dear, and one of GPT-Neo 1.3B: "
    "1,500 GPU hours (V100) for 7 epochs.",
    "table18": f"2 rankers, each {RANKER}.",
    "table19": "The rankers of GPT-Neo 125M, and the log-probabilities of its samples.",
    "shares": f"4 rankers on 1/8, 1/4, 1/2 and all of the training tasks, the last {RANKER}.",
    "figure4": "The rankers of table 6.",
    "figure7": "The rankers of table 6.",
}
