"""Find the files of a model by its name or folder, or say at once why it cannot be opened.

Libraries of the hub ask for each file several times, with pauses, before they believe that nobody answers. Here one
connection is tried first; without an answer only what is cached counts.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from importlib import metadata
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, HFValidationError

from assay.encode.models import is_path
from assay.errors import InputError, ModelUnavailable, printable

_CONFIGURATION = "config.json"
_PICKLED = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"})
_WAITED_S = 2.0


def is_local(model: str) -> bool:
    """Say whether a model is a folder."""
    return Path(model).expanduser().is_dir()


def hub_options(model: str) -> dict[str, Any]:
    """Return the options of every call that may ask the hub about a model."""
    return {} if is_local(model) or is_hub_reachable() else {"local_files_only": True}


def find_file(model: str, file: str) -> Path | None:
    """Return a file of a model's folder or hub repository, or None where the model has no such file."""
    if is_local(model):
        path = Path(model).expanduser() / file
        return path if path.is_file() else None
    try:
        if not is_hub_reachable():
            cached = try_to_load_from_cache(model, file)
            return Path(cached) if isinstance(cached, str) else None
        return Path(hf_hub_download(model, file))
    except EntryNotFoundError:
        return None
    except (OSError, HfHubHTTPError, HFValidationError) as error:
        raise _unknown_model(model, error) from error


def check_is_there(model: str) -> None:
    """Refuse a model that is neither a folder nor on the hub or in its cache, before a heavy library is loaded."""
    if not any(find_file(model, file) for file in (_CONFIGURATION, "modules.json")):
        raise _unknown_model(model, OSError(f"it has no {_CONFIGURATION}"))


@contextmanager
def opening(model: str) -> Iterator[None]:
    """Say in one line why a model cannot be opened: it is missing, pickled, or needs other libraries."""
    _refuse_pickles(model)
    try:
        yield
    except ImportError as error:
        library = f"library '{error.name}': pip install {error.name}" if error.name else _first_line(error)
        raise ModelUnavailable(f"the model '{model}' needs the {library}") from error
    except OSError as error:
        raise _unknown_model(model, error) from error
    except (ValueError, AttributeError, KeyError, TypeError, RuntimeError, NotImplementedError) as error:
        why = f"{type(error).__name__}: {_first_line(error)}"
        raise ModelUnavailable(
            f"the model '{model}' cannot be opened with transformers {metadata.version('transformers')} ({why}); "
            f"{_wanted_version(model)}"
        ) from error


def _refuse_pickles(model: str) -> None:
    """Refuse a folder whose weights are pickled, which can run code when they are read."""
    if not is_local(model):
        return
    for file in sorted(Path(model).expanduser().rglob("*")):
        if file.suffix in _PICKLED and not any(file.parent.glob("*.safetensors")):
            raise InputError(
                f"the weights of '{model}' are pickled ({file.name}) and could run code: save the model again with "
                "save_pretrained, which writes model.safetensors"
            )


@cache
def is_hub_reachable() -> bool:
    """Say whether the hub answers within two seconds; it is asked once, and never with HF_HUB_OFFLINE."""
    if constants.HF_HUB_OFFLINE:
        return False
    hub = urlsplit(os.environ.get("HF_ENDPOINT") or constants.ENDPOINT)
    proxy = "" if proxy_bypass(hub.hostname or "") else getproxies().get(hub.scheme, "")
    asked = urlsplit(proxy if "//" in proxy else f"//{proxy}") if proxy else hub
    port = asked.port or (443 if asked.scheme == "https" else 80)
    looking = ThreadPoolExecutor(1)  # a name may take longer to be found than a connection may take
    try:
        return looking.submit(_connects, asked.hostname or "", port).result(_WAITED_S)
    except (TimeoutError, OSError):
        return False
    finally:
        looking.shutdown(wait=False)


def _connects(host: str, port: int) -> bool:
    with socket.create_connection((host, port), timeout=_WAITED_S):
        return True


def _unknown_model(model: str, error: Exception) -> InputError:
    """Return the error for a model that does not exist."""
    if is_local(model):
        return InputError(f"no model '{model}': {_first_line(error)}; wanted a folder that save_pretrained wrote")
    if is_path(model):
        return InputError(f"no model '{model}': there is no such folder; give a folder, or a name on the hub")
    if is_hub_reachable():
        return InputError(f"no model '{model}': {_first_line(error)}; give a folder, or a name on the hub")
    reason = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else f"{constants.ENDPOINT} does not answer"
    return ModelUnavailable(
        f"no model '{model}': not in the cache of the hub, and {reason}; go online once, or give a folder (hf:FOLDER)"
    )


def _wanted_version(model: str) -> str:
    """Return the next step: which version of transformers the model was written with."""
    written = ""
    with suppress(InputError, OSError, ValueError):
        if file := find_file(model, _CONFIGURATION):
            written = json.loads(file.read_text("utf-8")).get("transformers_version", "")
    then, now = (_numbers(str(version)) for version in (written, metadata.version("transformers")))
    if then > now:
        return f"transformers {written} wrote it: pip install 'transformers>={written}'"
    if then and then[0] < now[0]:
        return f"transformers {written} wrote it: pip install 'transformers>={written},<{then[0] + 1}'"
    return "see its page for the libraries that it needs"


def _numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version."""
    return tuple(int(part) for part in takewhile(str.isdecimal, version.split(".")))


def _first_line(error: Exception) -> str:
    return printable(next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason given"))
