"""The eight methods of CoSQA+'s Table V, each as the spec of a system; `encode.recipes` says how each is pooled.

The paper's CodeBERT is a checkpoint fine-tuned on CodeSearchNet that it does not name (its footnote 1): the published
base model below is another one and scores lower. For a checkpoint of your own write `dense:hf:FOLDER?pooling=pooler`.
"""

from __future__ import annotations

from collections.abc import Mapping

METHODS: Mapping[str, str] = {
    "BoW": "bow:2000",
    "CodeBERT": "dense:hf:microsoft/codebert-base",
    "UniXcoder": "dense:hf:microsoft/unixcoder-base",
    "CodeT5+ embedding": "dense:hf:Salesforce/codet5p-110m-embedding",
    "Jina-embedding-v3": "dense:hf:jinaai/jina-embeddings-v3",
    "All-MiniLM-L12-v2": "dense:hf:sentence-transformers/all-MiniLM-L12-v2",
    "All-mpnet-base-v2": "dense:hf:sentence-transformers/all-mpnet-base-v2",
    "Multilingual-e5-large": "dense:hf:intfloat/multilingual-e5-large",
}
"""The paper's name of each method, in the order of its table."""
