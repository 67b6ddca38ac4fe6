"""Lower what starts only beyond a size: on PYTHONPATH, in a process and in all that it starts.

`ASSAY_LOWERED` names mechanisms of the table below, or is `all`. Their constants are replaced in the source as modules
load, defaults and decorators included. A file that `ASSAY_MET` names gets a line for each function that was met.
"""

import ast
import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader

MECHANISMS = {
    "forked indexing": ("search.index_build", {"_WORTH_FORKING_BYTES": 1, "_MIN_BATCH_BYTES": 2000}, "run_forked"),
    "kept so far": ("search.index_build", {"KEEP_S": 0.0}, ""),
    "merge of segments": ("store.merge", {"MAX_SEGMENTS": 1, "MAX_DEAD_FRACTION": 0.0}, "_merged"),
    "largest segment": ("store.merge", {"MAX_SEGMENT_CHUNKS": 9}, ""),
    "inverted lists": ("store.vectors", {"MIN_LISTED_CHUNKS": 4, "_LENGTH": 4, "_BLOCK": 8, "_ROWS": 4}, "build_lists"),
    "nearest lists": ("store.near_cosines", {"_MIN_READ_CHUNKS": 16}, "_nearest_lists"),
    "common terms": ("search.retrievers", {"_LARGE": 4}, ""),
    "blocks of products": ("search.retrievers", {"_SPARE": 2, "_BUFFER_FACTOR": 1}, ""),
    "kept chunks": (
        "store.snapshot",
        {"_AT_ONCE": 2, "_CHUNK_CACHE_SIZE": 3, "_TERM_CACHE_SIZE": 2, "_TERM_BYTES": 64},
        "",
    ),
    "table of terms": ("store.snapshot", {"_MAX_PROBED_SEGMENTS": 0}, ""),
    "letters of terms": ("store.postings", {"_AT_ONCE": 64}, ""),
    "verified blocks": ("store.arrays", {"_AT_ONCE": 1}, ""),
    "masks of filters": ("search.filters", {"_MASK_CACHE_SIZE": 1}, ""),
    "words of questions": ("search.question", {"_CORRECTION_CACHE_SIZE": 1}, ""),
    "words in other languages": ("search.translation", {"_QUESTION_CACHE_SIZE": 1, "_WORD_CACHE_SIZE": 1}, ""),
    "features of chunks": ("search.features", {"_CHUNK_CACHE_SIZE": 1, "_KEPT_CHUNKS": 1}, ""),
    "pieces of words": ("terms", {"_WORD_CACHE_SIZE": 1}, ""),
    "rows of words": ("encode.static", {"_WORD_CACHE_SIZE": 2, "_BATCH": 1}, ""),
    "described chunks": ("search.folder_index", {"_AT_ONCE": 2}, ""),
    "batches of commits": ("search.commit_index", {"_BATCH": 1}, ""),
    "functions of files": ("operations.sizing", {"_FILE_CACHE_SIZE": 1}, ""),
    "blocks of grep": ("operations.grep", {"BLOCK": 64}, "_blocks"),
    "keys of a question": ("io.database", {"_KEYS_A_QUESTION": 1}, ""),
    "ranges of a bucket": ("store.copies", {"RANGE": 1000, "_AT_ONCE": 2}, ""),
    "joint corpora": ("serve.reader", {"_VIEW_CACHE_SIZE": 1}, ""),
    "rates of people": ("serve.http.guard", {"_MAX_BUCKETS": 1}, ""),
    "batches of machines": ("runs.worker_pool", {"MAX_BATCH_ITEMS": 1}, ""),
    "waiting work": ("runs.local", {"MAX_WAITING": 1}, ""),
    "blocks of scores": ("bench.systems.baseline_systems", {"_BLOCK": 2}, ""),
}
"""By name: the module, its constants as they are lowered, and the function that runs then."""
_chosen = os.environ.get("ASSAY_LOWERED", "").split(",")
_lowered = {name: row for name, row in MECHANISMS.items() if name in _chosen or _chosen == ["all"]}
_met = set()


def met(name):
    """Note once in each process that a mechanism ran."""
    if name not in _met and _met.add(name) is None and "ASSAY_MET" in os.environ:
        with open(os.environ["ASSAY_MET"], "a") as opened:  # noqa: PTH123  before anything else is loaded
            opened.write(f"{name}\n")


class Loader(SourceFileLoader):
    """Loads a module from its source, with lower constants."""

    def get_code(self, fullname):
        """Return the code, with a note at the beginning of what is to be met."""
        tree = ast.parse(self.get_data(self.path))
        for name, (module, constants, function) in _lowered.items():
            for node in ast.walk(tree) if fullname == f"assay.{module}" else ():
                if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in constants:
                    node.value = ast.parse(repr(constants[node.targets[0].id])).body[0].value
                elif isinstance(node, ast.FunctionDef) and node.name == function:
                    node.body[:0] = ast.parse(f"__import__('sitecustomize').met({name!r})").body
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)


class Finder(PathFinder):
    """Finds the modules of the table."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        """Return where a module is, to be loaded by our loader."""
        if fullname not in {f"assay.{module}" for module, _, _ in _lowered.values()}:
            return None
        spec = super().find_spec(fullname, path, target)
        spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


sys.meta_path.insert(0, Finder)
