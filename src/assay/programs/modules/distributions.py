"""The name in an import to the distribution that brings it, offline, and which distributions may be installed at all.

A name that is neither in the table nor on the list has no distribution, whatever PyPI says: models invent names, and
others register what models invent. Known and allowed are two things: torch is known, and too large to be allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from assay.errors import InputError

_LIST = resources.files("assay.programs.modules") / "data" / "distributions.txt"
_LINE = re.compile(r"(?:([A-Za-z_]\w*)\s*=\s*)?([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)", re.ASCII)

_OTHERWISE_NAMED = dict(
    pair.split("=")
    for pair in """
    Bio=biopython Crypto=pycryptodome Cryptodome=pycryptodomex Cython=cython IPython=ipython Levenshtein=levenshtein
    OpenSSL=pyopenssl PIL=pillow PyPDF2=pypdf2 absl=absl-py attr=attrs bs4=beautifulsoup4 cairosvg=cairosvg
    community=python-louvain constraint=python-constraint2 cpuinfo=py-cpuinfo cv2=opencv-python-headless
    dateutil=python-dateutil docx=python-docx dotenv=python-dotenv factory=factory-boy faiss=faiss-cpu fitz=pymupdf
    flask_sqlalchemy=flask-sqlalchemy git=gitpython github=pygithub google=protobuf grpc=grpcio
    imblearn=imbalanced-learn
    jose=python-jose jsonpath_ng=jsonpath-ng jwt=pyjwt louvain=python-louvain markdown_it=markdown-it-py
    memory_profiler=memory-profiler mpl_toolkits=matplotlib msgpack=msgpack multipart=python-multipart nacl=pynacl
    odf=odfpy opt_einsum=opt-einsum pkg_resources=setuptools pptx=python-pptx psycopg2=psycopg2-binary pulp=pulp
    pythonjsonlogger=python-json-logger pywt=pywavelets pylab=matplotlib rest_framework=djangorestframework
    ruamel=ruamel-yaml serial=pyserial skimage=scikit-image sklearn=scikit-learn skopt=scikit-optimize
    slugify=python-slugify socks=pysocks sortedcontainers=sortedcontainers tables=tables telegram=python-telegram-bot
    tensorflow=tensorflow torch=torch torchvision=torchvision transformers=transformers umap=umap-learn
    umsgpack=u-msgpack-python usb=pyusb websocket=websocket-client wx=wxpython yaml=pyyaml z3=z3-solver zmq=pyzmq
    zope=zope-interface
    """.split()
)
"""Import names that differ from their distribution, and distributions that are known but not listed."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of distributions, and which of them may be installed."""

    allowed: frozenset[str]
    of_module: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a user's file says about import names."""

    def distribution_of(self, module: str) -> str:
        """Return what brings a module, empty for one that nobody knows."""
        named = self.of_module.get(module) or _OTHERWISE_NAMED.get(module)
        if named:
            return named
        same = plain(module)
        return same if same in self.allowed else ""

    def allows(self, distribution: str) -> bool:
        """Say whether a distribution may be installed."""
        return plain(distribution) in self.allowed


def plain(name: str) -> str:
    """Return a name as the index of distributions compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def known(more: Path | None = None) -> Known:
    """Return the list that is shipped, and what a file adds: a line `NAME`, or `MODULE = NAME` where they differ."""
    allowed = {line for line in _LIST.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")}
    of_module: dict[str, str] = {}
    for number, line in enumerate(_lines(more) if more else [], 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            raise InputError(f"{more}:{number}: '{text[:60]}' is no name; wanted DISTRIBUTION or MODULE = DISTRIBUTION")
        module, name = match.groups()
        allowed.add(plain(name))
        if module:
            of_module[module] = plain(name)
    return Known(frozenset(allowed), of_module)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the list of allowed distributions {file}: {error}") from error
