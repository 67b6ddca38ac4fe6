"""Count what hostile repositories make Assay do: each command runs in each of them under strace.

    python benchmarks/hostile_repositories.py [--assay PATH] [--only NAME]... [--commands search,log] [--list]

For each repository one row of a Markdown table, for each thing that broke a line below it. Exits 1 if anything broke.
Needs Linux, git and strace; the extras `mcp` and `serve` of the installation are tested only where it has them.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

QUESTION = "where is mail sent"
SYSCALLS = (
    "connect,execve,execveat,open,openat,openat2,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,"
    "unlinkat,mkdir,mkdirat,rmdir,chmod,fchmodat,truncate,mknod,mknodat"
)
COMMANDS: dict[str, list[str]] = {
    "search": ["search", QUESTION, "."],
    "index": ["index", "."],
    "log": ["log", "mail", "."],
    "related": ["related", "mail/send.py:4"],
    "outline": ["outline"],
    "status": ["status"],
    "mcp": ["mcp", "."],
    "serve": ["serve", ".", "--port", "0"],
}
EXTRA: dict[str, list[str]] = {
    "bench": ["bench", ".", "--out", "{out}/bench"],
    "mine": ["truth", "mine", "."],
    "check": ["truth", "check", "assay-truth.jsonl", "--corpus", "."],
    "doctor": ["doctor"],
    "install": ["install", ".", "--yes", "--agent", "claude-code", "--agent", "cursor", "--scope", "project"],
    "url": ["search", QUESTION, "file://{repo}"],
}
"""Commands that `--commands` names, or `all`."""
CODE = 'import smtplib\n\n\ndef send_mail(to: str, text: str) -> None:\n    """Send mail to somebody."""\n'
CODE += "    smtplib.SMTP().sendmail('me', to, text)\n\n\ndef greet(to: str) -> None:\n    send_mail(to, 'hello')\n"
PROGRAM_KEYS = (
    "core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy core.alternateRefsCommand"
    " diff.external diff.evil.command diff.evil.textconv filter.evil.clean filter.evil.smudge filter.evil.process"
    " merge.evil.driver gpg.program gpg.ssh.program credential.helper alias.log alias.rev-parse alias.ls-files"
    " pager.log pager.blame sequence.editor interactive.diffFilter uploadpack.packObjectsHook remote.origin.uploadpack"
    " remote.origin.receivepack remote.origin.vcs browser.evil.cmd man.evil.cmd difftool.evil.cmd mergetool.evil.cmd"
    " trailer.evil.command submodule.mail.update sendemail.smtpServer"
).split()


@dataclass(slots=True)
class Repo:
    """A repository being made, beside things that it must not reach."""

    case: Path
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The checkout."""
        return self.case / "repo"

    def path(self, name: str) -> Path:
        """Return a path in it, whose folder is there."""
        found = self.root / name
        found.parent.mkdir(parents=True, exist_ok=True)
        return found

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file of it."""
        found = self.path(name)
        found.write_bytes(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)
        return found

    def link(self, name: str, target: str | Path) -> None:
        """Put a link in the place of a file."""
        found = self.path(name)
        found.unlink(missing_ok=True)
        found.symlink_to(target)

    def fifo(self, name: str) -> None:
        """Put a pipe in the place of a file: whoever opens it waits for ever."""
        found = self.path(name)
        found.unlink(missing_ok=True)
        os.mkfifo(found)

    def git(self, *arguments: str) -> str:
        """Run git in it while nothing of it is hostile yet."""
        command = ["git", "-c", "user.name=n", "-c", "user.email=n@n", "-C", str(self.root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def config(self, text: str) -> None:
        """Add to its configuration."""
        with (self.root / ".git/config").open("a") as file:
            file.write(text + "\n")

    def touch(self, name: str = "ran") -> str:
        """Return a shell command that leaves a mark."""
        return f"touch {self.case}/marks/{name}; false"

    def python(self, name: str = "py") -> str:
        """Return Python code that leaves a mark."""
        return f"open({str(self.case / 'marks' / name)!r}, 'w').close()\n"

    def secret(self, name: str) -> str:
        """Return a text that must not be seen again."""
        return self.secrets.setdefault(name, f"SECRET{hashlib.sha256(f'{self.case}{name}'.encode()).hexdigest()[:20]}")


def make_honest(repo: Repo) -> None:
    """Nothing: an ordinary checkout."""
    repo.write("README.md", "# Mail\n\nSends mail.\n")


def make_shadowing(repo: Repo) -> None:
    """Top-level files with the names of modules that Assay and Python import."""
    names = "numpy click assay types tests json re platformdirs pygments rich mcp fastapi uvicorn anyio"
    more = "ast_grep_py sitecustomize usercustomize conftest typing io os site numpy/__init__ src/assay/__init__"
    for name in f"{names} {more}".split():
        repo.write(f"{name}.py", repo.python(name.replace("/", "-")) + CODE)
    repo.write("evil.pth", f"import os; {repo.python('pth')}")
    repo.write("pyvenv.cfg", "home = .\ninclude-system-site-packages = true\n")
    for name in ("pytest.ini", "setup.cfg", "tox.ini", "matplotlibrc", "sgconfig.yml", "pyproject.toml"):
        repo.write(name, "[pytest]\naddopts = -p evil\n[tool.assay]\nencoder = 'hf:evil'\n")


def make_environment_files(repo: Repo) -> None:
    """Files that libraries read of the current folder: .env with their settings, .netrc, .npmrc."""
    host = "FASTMCP_HOST=0.0.0.0\nUVICORN_HOST=0.0.0.0\nHTTPS_PROXY=http://192.0.2.1:1\nASSAY_TOKEN=x\n"
    repo.write(".env", host + f"KEY={repo.secret('dotenv')}\n")
    repo.write("id_rsa", f"-----BEGIN KEY-----\nsend mail {repo.secret('rsa')}\n")
    repo.write("deploy.pem", f"send mail {repo.secret('pem')}\n")


def make_toml_every_key(repo: Repo) -> None:
    """assay.toml with each key that only a user may set."""
    repo.write(
        "assay.toml",
        '[index]\nlocation = "own-index"\nrefresh = false\nopen_ignored = true\ncache_gb = 0\n[encoder]\n'
        'spec = "hf:evil/model"\n[search]\nweights = "weights"\nreranker = "rerank:http://192.0.2.1:9/x"\n',
    )
    repo.write("weights/assay.json", '{"remote_code": true}')


def make_toml_address(repo: Repo) -> None:
    """assay.toml with an encoder behind an address, and an index in a bucket."""
    repo.write(
        "assay.toml", '[index]\nlocation = "s3://evil/prefix"\n[encoder]\nspec = "api:m@http://192.0.2.1:9/v1"\n'
    )


def make_toml_nested(repo: Repo) -> None:
    """assay.toml in folders and in a nested checkout."""
    for folder in ("mail", "nested", ".git", ".assay"):
        repo.write(f"{folder}/assay.toml", '[encoder]\nspec = "hf:evil/model"\n[index]\nlocation = "../../out-index"\n')
    shutil.copytree(repo.root / ".git", repo.root / "nested/.git")


def make_toml_linked(repo: Repo) -> None:
    """assay.toml as a link to a file outside."""
    repo.link("assay.toml", repo.case / "outside.txt")


def make_toml_fifo(repo: Repo) -> None:
    """assay.toml as a pipe."""
    repo.fifo("assay.toml")


def make_toml_huge(repo: Repo) -> None:
    """assay.toml of 5 GB, sparse."""
    repo.write("assay.toml", "")
    os.truncate(repo.root / "assay.toml", 5_000_000_000)


def make_toml_bad_bytes(repo: Repo) -> None:
    """assay.toml that is not UTF-8."""
    repo.write("assay.toml", b"[search]\nlimit = 3 # \xff\xfe\n")


def make_toml_deep(repo: Repo) -> None:
    """assay.toml nested more deeply than a parser recurses."""
    repo.write("assay.toml", "x = " + "[" * 20_000 + "]" * 20_000)


def make_toml_escapes(repo: Repo) -> None:
    """assay.toml whose unknown key and values hold escape sequences, and a huge number."""
    repo.write("assay.toml", '[search]\n"\\u001b]0;evil\\u0007" = 1\nlimit = ' + "9" * 5000 + "\n")


def make_toml_greedy(repo: Repo) -> None:
    """assay.toml with harmless keys of absurd values."""
    repo.write(
        "assay.toml",
        "[index]\nchunk_lines = 1\nsection_lines = 1000000\n[search]\nlimit = 1000000000\nrerank_depth = 1000000\n",
    )


def make_poisoned_index(repo: Repo) -> None:
    """Folders that look like an index, with paths that leave them, links and pipes, at every likely place."""
    for folder in (".assay", "own-index", "assay", ".cache/assay/repo-0000000000000000"):
        repo.write(
            f"{folder}/manifest.json", json.dumps({"format": 1, "segments": ["../../outside.txt", "/etc/passwd"]})
        )
        repo.link(f"{folder}/x.segment", repo.case / "outside.txt")
        repo.fifo(f"{folder}/lock")
    repo.write("assay.toml", '[index]\nlocation = "own-index"\n')


def make_links_out(repo: Repo) -> None:
    """Links to files and folders outside, also with names of ignore files."""
    for name in ("secret.py", ".gitignore", ".assayignore", "mail/.gitignore", "mail/linked.md", ".gitattributes"):
        repo.link(name, repo.case / "outside.txt")
    repo.link("elsewhere", repo.case)
    repo.link("root", "/")
    repo.link("mail/link-to-git", "../.git")


def make_link_cycles(repo: Repo) -> None:
    """Links in circles, to themselves and to folders above."""
    for name, target in (("a", "b"), ("b", "a"), ("self", "self"), ("mail/up", ".."), ("assay.toml", "assay.toml")):
        repo.link(name, target)
    repo.link(".gitignore", ".assayignore")
    repo.link(".assayignore", ".gitignore")


def make_install_links(repo: Repo) -> None:
    """Files of agents as links to files and folders outside."""
    for name in ("CLAUDE.md", "AGENTS.md", ".mcp.json", ".cursor", ".vscode", ".codex"):
        repo.link(name, repo.case / ("outside.txt" if name.endswith("md") else "outside"))


def make_truth_links(repo: Repo) -> None:
    """A ground truth, its lock and the folder of reports as links outside."""
    repo.link("assay-truth.jsonl", repo.case / "outside.txt")
    repo.link("assay-truth.jsonl.lock", repo.case / "lock-made")
    repo.link("assay-bench", repo.case / "outside")


def make_plans(repo: Repo) -> None:
    """A ground truth, plans and systems that a benchmark might take from the repository."""
    head = repo.git("rev-parse", "HEAD")
    rows = [{"type": "truth", "format": 1, "name": "x", "commit": head}, {"type": "query", "id": "q", "text": QUESTION}]
    repo.write("assay-truth.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    for name in ("pipeline.toml", "matrix.toml", "assay-bench/plan.toml", "bench.toml"):
        repo.write(name, f"[systems.evil]\nspec = \"cmd:sh -c '{repo.touch('plan')}'\"\n")
    repo.write("assay-bench/results.json", "[" * 100_000)


def make_config_programs(repo: Repo) -> None:
    """.git/config that names a program in every key that has one, and attributes that call for them."""
    for key in PROGRAM_KEYS:
        repo.git("config", key, repo.touch(key))
    repo.write(".git/info/attributes", "* diff=evil merge=evil filter=evil\n")
    repo.write(".gitattributes", "* diff=evil merge=evil filter=evil\n")
    repo.write("mail/send.py", CODE + "\n")


def make_remerge(repo: Repo) -> None:
    """log.diffMerges = remerge with a merge driver: a log of merges merges them again."""
    make_merges(repo)
    repo.git("config", "log.diffMerges", "remerge")
    repo.git("config", "merge.evil.driver", repo.touch("driver"))
    repo.write(".git/info/attributes", "* merge=evil\n")


def make_clean_filter(repo: Repo) -> None:
    """A clean filter, and files whose times differ from those in git's index, with a ground truth to check."""
    make_plans(repo)
    repo.git("config", "filter.evil.clean", repo.touch("clean"))
    repo.write(".git/info/attributes", "* filter=evil\n")
    os.utime(repo.root / "mail/send.py", (1, 1))


def make_hooks(repo: Repo) -> None:
    """Every hook, and a folder of hooks."""
    names = (
        "pre-commit post-checkout post-index-change reference-transaction fsmonitor-watchman post-rewrite pre-auto-gc"
    )
    for name in names.split():
        for folder in (".git/hooks", "hooks"):
            repo.write(f"{folder}/{name}", f"#!/bin/sh\n{repo.touch(name)}\n").chmod(0o755)
    repo.config("[core]\n\thooksPath = ../hooks\n\tfsmonitor = .git/hooks/fsmonitor-watchman\n")


def make_config_includes(repo: Repo) -> None:
    """.git/config that includes files: relative ones, one outside, one that does not exist."""
    repo.write(
        "evil.config", f"[core]\n\tfsmonitor = {repo.touch('included')}\n[alias]\n\tlog = !{repo.touch('alias')}\n"
    )
    repo.config(f"[include]\n\tpath = ../evil.config\n\tpath = {repo.case}/outside.txt\n")
    repo.config('[includeIf "gitdir:**"]\n\tpath = ../evil.config\n')


def make_config_include_fifo(repo: Repo) -> None:
    """.git/config that includes a pipe, on the line of its section."""
    repo.fifo("pipe")
    repo.config("[include] path = ../pipe")


def make_config_regex(repo: Repo) -> None:
    """A pattern for function names of a diff that takes for ever."""
    repo.write(".gitattributes", "* diff=evil\n")
    for end in ("x", "y"):
        repo.write("mail/big.py", ("a" * 300 + "\n") * 50 + end)
        repo.git("add", "-A")
        repo.git("commit", "-qm", f"Mail {end}")
    repo.git("config", "diff.evil.xfuncname", r"^(a*)(a*)(a*)(a*)(a*)\1\2\3\4\5b$")


def make_config_worktree(repo: Repo) -> None:
    """.git/config with another work tree, attributes, excludes and order files outside."""
    repo.config(f"[core]\n\tworktree = {repo.case}\n\tattributesFile = {repo.case}/outside.txt\n")
    repo.config(f"[core]\n\texcludesFile = {repo.case}/outside.txt\n[diff]\n\torderFile = {repo.case}/outside.txt\n")
    repo.config(f"[mailmap]\n\tfile = {repo.case}/outside.txt\n[commit]\n\ttemplate = {repo.case}/outside.txt\n")


def make_config_blame(repo: Repo) -> None:
    """blame.ignoreRevsFile that git and Python read as different files; its first line is in git's complaint."""
    outside = f"{repo.case}/outside.txt"
    repo.write(outside.lstrip("/"), "x\n")
    repo.path("%(prefix)/x").touch()
    repo.config(f'[blame]\n\tignoreRevsFile = "%(prefix)/..{outside}"\n')


def make_config_promisor(repo: Repo) -> None:
    """A partial clone whose missing objects are at addresses, behind ext::, ssh and a local program."""
    repo.git("repack", "-adq")
    blob = repo.git("rev-parse", "HEAD:mail/send.py")
    repo.config(
        f"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = o\n"
        f'[remote "o"]\n\turl = ext::sh -c "{repo.touch("ext")}"\n'
        "\tpromisor = true\n\tpartialclonefilter = blob:none\n"
        '[remote "p"]\n\turl = ssh://192.0.2.1/x\n\tpromisor = true\n'
    )
    for pack in (repo.root / ".git/objects/pack").iterdir():
        pack.chmod(0o644)
        pack.unlink()
    repo.write(".git/objects/info/alternates", f"{blob}\n")


def make_config_remote(repo: Repo) -> None:
    """Remotes with passwords, pushInsteadOf, proxies and submodules at odd addresses."""
    token = repo.secret("remote")
    repo.config(f'[remote "origin"]\n\turl = https://u:{token}@github.com/o/r.git\n\tproxy = http://192.0.2.1:9\n')
    repo.config(
        f'[http]\n\tproxy = http://192.0.2.1:9\n\textraHeader = "Authorization: {token}"\n'
        '[url "ext::sh"]\n\tinsteadOf = file:\n'
    )
    repo.write(".gitmodules", '[submodule "m"]\n\tpath = m\n\turl = ext::sh -c evil\n\tupdate = !sh\n')


def make_config_broken(repo: Repo) -> None:
    """.git/config that no git reads."""
    repo.config("[core\n\x1b]0;evil\x07 = \x00")


def make_config_future(repo: Repo) -> None:
    """A repository format of the future."""
    repo.config("[core]\n\trepositoryformatversion = 999\n[extensions]\n\tevil = true\n")


def make_git_file(repo: Repo) -> None:
    """.git as a file that leads to the repository of somebody else."""
    other = Repo(repo.case / "other")
    shutil.copytree(repo.root, other.root)
    other.write("mail/private.py", f"# {repo.secret('private repository')}\n")
    other.git("add", "-A")
    other.git("commit", "-qm", f"Send mail {repo.secret('private message')}")
    shutil.rmtree(repo.root / ".git")
    repo.write(".git", "gitdir: ../other/repo/.git\n")


def make_git_file_fifo(repo: Repo) -> None:
    """.git as a file that leads to a folder whose commondir is a pipe."""
    shutil.rmtree(repo.root / ".git")
    repo.write(".git", "gitdir: g\n")
    repo.fifo("g/commondir")


def make_git_file_pipes(repo: Repo) -> None:
    """.git as a file that leads to a repository whose packed-refs is a pipe."""
    (repo.root / ".git").rename(repo.root / "g")
    repo.write(".git", "gitdir: g\n")
    repo.fifo("g/packed-refs")


def make_git_file_huge(repo: Repo) -> None:
    """.git as a sparse file of 60 GB."""
    shutil.rmtree(repo.root / ".git")
    repo.write(".git", "gitdir: g\n")
    os.truncate(repo.root / ".git", 60_000_000_000)


def make_git_in_git(repo: Repo) -> None:
    """.git that is a checkout itself, as .git/.git says."""
    repo.config(f'[remote "origin"]\n\turl = https://u:{repo.secret("config")}@example.com/r.git\n')
    repo.write(".git/.git", "gitdir: ../.git\n")


def make_git_pipes_in_refs(repo: Repo) -> None:
    """The branch as a pipe."""
    repo.fifo(f".git/{repo.git('symbolic-ref', 'HEAD')}")


def make_git_pipes_in_objects(repo: Repo) -> None:
    """An object and an index of a pack as pipes."""
    head = repo.git("rev-parse", "HEAD")
    repo.path(f".git/objects/{head[:2]}/{head[2:]}").unlink()
    repo.fifo(f".git/objects/{head[:2]}/{head[2:]}")
    repo.write(f".git/objects/pack/pack-{'1' * 40}.pack", "")
    repo.fifo(f".git/objects/pack/pack-{'1' * 40}.idx")


def make_git_pipes_at_top(repo: Repo) -> None:
    """packed-refs, config.worktree, info/attributes and .gitattributes as pipes."""
    for name in (".git/packed-refs", ".git/info/attributes", ".gitattributes", ".mailmap", ".gitmodules"):
        repo.fifo(name)


def make_nested_attributes_fifo(repo: Repo) -> None:
    """.gitattributes of a folder as a pipe."""
    repo.fifo("mail/.gitattributes")


def make_alternates(repo: Repo) -> None:
    """Objects in another repository, named in a circle and through a link."""
    repo.write(".git/objects/info/alternates", f"../../.git/objects\n{repo.case}/outside\n/dev/zero\n/proc/self/fd\n")
    repo.link(".git/objects/info/commit-graph", "/dev/zero")


def make_bare_inside(repo: Repo) -> None:
    """A bare repository inside, with a monitor."""
    repo.git("clone", "-q", "--bare", ".", "inner")
    repo.write("inner/config", f"[core]\n\tbare = true\n\tfsmonitor = {repo.touch('bare')}\n# {repo.secret('bare')}\n")


def make_submodule(repo: Repo) -> None:
    """A submodule whose own configuration names programs, and whose repository lies in .git/modules."""
    repo.git("clone", "-q", ".", "sub")
    repo.git("-c", "protocol.file.allow=always", "add", "sub")
    repo.git("commit", "-qm", "Add sub")
    inner = Repo(repo.case)
    (repo.root / "sub/.git/config").write_text(
        f'[core]\n\tfsmonitor = {inner.touch("sub")}\n[filter "evil"]\n\tclean = {inner.touch("subclean")}\n'
    )
    repo.write("sub/.git/info/attributes", "* filter=evil\n")
    os.utime(repo.root / "sub/mail/send.py", (1, 1))
    make_plans(repo)


def make_reopening(repo: Repo) -> None:
    """Ignore files that bring in .git, keys and what git ignores."""
    make_environment_files(repo)
    repo.config(f"# send mail {repo.secret('git config')}")
    repo.write("private/notes.md", f"# Send mail\n{repo.secret('ignored')}\n")
    repo.write(".git/info/exclude", "private/\n")
    rules = "!.git\n!.git/**\n!**\n!.env\n!id_rsa\n!*.pem\n!private/\n!private/**\n!/\n"
    for name in (".assayignore", "mail/.assayignore", "private/.assayignore", ".gitignore"):
        repo.write(
            name, rules if name != ".gitignore" else rules.replace("!private/\n!private/**\n", "").replace("!**\n", "")
        )


def make_patterns(repo: Repo) -> None:
    """Ignore files whose patterns take for ever, or are very many."""
    repo.write(".gitignore", "*a" * 200 + "b\n" + "**/" * 300 + "x\n" + "[" * 500 + "\n" + "\\" * 99 + "\n")
    repo.write(".assayignore", "".join(f"!a*{n}*b*c?[!x]/**/y\n" for n in range(20_000)))
    repo.write("a" * 240 + ".py", CODE)


def make_key_cases(repo: Repo) -> None:
    """Keys under names in other cases, and as hard links under a harmless name."""
    for name in (".ENV", "ID_RSA", "Server.PEM", ".env.local", "prod.env"):
        repo.write(name, f"send mail {repo.secret(name)}\n")


def make_models(repo: Repo) -> None:
    """Model folders with code and pickles where specs could find them."""
    for folder in ("static", "default", "hf", "model"):
        repo.write(f"{folder}/assay.json", '{"kind": "static", "remote_code": true}')
        repo.write(f"{folder}/modules.json", '[{"type": "evil.Evil", "path": ""}]')
        repo.write(f"{folder}/pytorch_model.bin", b"cos\nsystem\n(S'" + repo.touch("pickle").encode() + b"'\ntR.")
        repo.write(f"{folder}/evil.py", repo.python("model"))


def make_names(repo: Repo) -> None:
    """Names that are options, addresses, escapes, lines and no UTF-8."""
    names = [
        "--index",
        "-h",
        "--config=x",
        "new\nline.py",
        "esc\x1b]0;evil\x07.py",
        "https:",
        "a" * 250 + ".py",
        "s3:",
        "~",
        "$(id).py",
    ]
    for name in [
        *names,
        "\u202egnp.py",
        "con\r.py",
        "\\xff.py",
        "\udcff.py",
        "*",
        ":(glob)x.py",
        "@{-1}.py",
        "ssh://x/y.py",
    ]:
        repo.write(name, CODE)


def make_contents(repo: Repo) -> None:
    """Contents with escapes, NULs, huge lines and deep nesting, in several languages."""
    repo.write("escapes.py", CODE.replace("Send", "\x1b]0;evil\x07\x1b[2J\u202e\u2066 Send \x9b31m \r mail"))
    repo.write("nul.py", CODE + "\0" * 9000)
    repo.write("late_nul.py", CODE * 90 + "\0\0" + CODE)
    for name, opening in (
        ("x.py", "("),
        ("x.js", "{"),
        ("x.c", "("),
        ("x.json", "["),
        ("x.html", "<a>"),
        ("x.ipynb", '{"cells":['),
        ("x.md", "> "),
    ):
        repo.write(f"deep/{name}", "send mail " * (name == "x.md") + opening * (400_000 // len(opening)))
    repo.write("line.txt", "send mail " * 90_000)
    repo.write("quote.md", "# Send mail\n" + "`" * 500_000 + "\n" + "[" * 400_000)


def make_special_files(repo: Repo) -> None:
    """Pipes, sockets and devices with the names of code, of pictures and of what is read by the way."""
    for name in (
        "pipe.py",
        "pipe.png",
        "README.md",
        "assay-truth.jsonl",
        "mail/pipe.lock",
        "yarn.lock",
        ".assayignore",
        "x.min.js",
    ):
        repo.fifo(name)
    here = Path.cwd()
    os.chdir(repo.root)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket.py")
    os.chdir(here)
    with contextlib.suppress(OSError):
        os.mknod(repo.root / "zero.py", 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def make_sparse(repo: Repo) -> None:
    """Sparse files of 50 GB with the names of code, rules and truth."""
    for name in ("big.py", ".gitignore", "assay-truth.jsonl", "big.png"):
        repo.write(name, "x\n")
        os.truncate(repo.root / name, 50_000_000_000)


def make_deep_folders(repo: Repo) -> None:
    """Folders deeper than a path may be long."""
    here = os.open(repo.root, os.O_RDONLY)
    for _ in range(120):
        os.mkdir("d" * 60, dir_fd=here)
        below = os.open("d" * 60, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def make_case_clash(repo: Repo) -> None:
    """Names that differ in case: .GIT, ASSAY.TOML, README."""
    repo.write(".GIT/config", f"[core]\n\tfsmonitor = {repo.touch('case')}\n# {repo.secret('case')}"[:60])
    repo.secrets.pop("case")
    repo.write("ASSAY.TOML", '[encoder]\nspec = "hf:evil"\n')
    repo.write("Mail/send.py", CODE)


def make_hard_links(repo: Repo) -> None:
    """Hard links to files of the repository's git folder and to a key."""
    repo.write("id_rsa", f"send mail {repo.secret('rsa')}\n")
    os.link(repo.root / ".git/HEAD", repo.root / "head.txt")
    os.link(repo.root / "mail/send.py", repo.root / "copy.py")


def make_odd_commits(repo: Repo) -> None:
    """Commits whose authors, dates, encodings and messages are hostile."""
    tree, head = repo.git("rev-parse", "HEAD^{tree}"), repo.git("rev-parse", "HEAD")
    for who in ("\x1b]0;evil\x07 <a\x1b[2J> 99999999999999999 +9999", "n <n> -1 -0000", "<> 0 +0000"):
        about = f"tree {tree}\nparent {head}\nauthor {who}\ncommitter {who}\nencoding UTF-7\n"
        raw = f"{about}\nSend mail \x1b[2J \x01\r\n".encode()
        made = subprocess.run(
            ["git", "-C", str(repo.root), "hash-object", "-t", "commit", "-w", "--literally", "--stdin"],
            input=raw,
            capture_output=True,
            check=True,
        )
        head = made.stdout.decode().strip()
    repo.git("update-ref", "HEAD", head)


def make_index_poison(repo: Repo) -> None:
    """An index of git that is damaged, and one that is locked."""
    repo.write(".git/index", b"DIRC" + b"\xff" * 300)
    repo.write(".git/index.lock", "")
    repo.write(".gitignore", "mail/*\n")


def make_merges(repo: Repo) -> None:
    """A merge with a conflict, for what reads merges."""
    repo.git("checkout", "-qb", "side", "HEAD~1")
    for branch in ("side", "main"):
        repo.git("checkout", "-q", branch)
        repo.write("mail/send.py", CODE + f"# {branch}\n")
        repo.git("commit", "-qam", f"Change how mail is sent to people in {branch}")
    repo.write("mail/send.py", CODE + "# both\n")
    repo.git("add", "-A")
    made = repo.git("commit-tree", repo.git("write-tree"), "-p", "HEAD", "-p", "side", "-m", "Merge side about mail")
    repo.git("update-ref", "HEAD", made)


def make_double_names(repo: Repo) -> None:
    """Names that are no UTF-8, beside links that have the names under which these are shown; git can clone both."""
    repo.write(".env", f"send_mail={repo.secret('dotenv')}\n")
    repo.config(f'[remote "origin"]\n\turl = https://u:{repo.secret("config")}@example.com/send-mail.git\n')
    for byte, target in (("\udcff", "../outside.txt"), ("\udcfe", ".env"), ("\udcfd", ".git/config")):
        repo.write(f"{byte}.py", CODE)
        repo.link(f"\\x{ord(byte) & 255:x}.py", target)
    repo.write("\udcfc/x.py", CODE)
    repo.link("\\xfc", "../outside")


def make_double_names_committed(repo: Repo) -> None:
    """The same, committed, so that a clone by URL has it, too."""
    repo.write("\udcff.py", CODE)
    repo.link("\\xff.py", repo.case / "outside.txt")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Send mail by names")


def make_double_names_fifo(repo: Repo) -> None:
    """A name that is no UTF-8, beside a pipe that has the name under which it is shown."""
    repo.write("\udcff.py", CODE)
    repo.fifo("\\xff.py")


def make_config_home(repo: Repo) -> None:
    """.git/config with paths in the home of a user who does not exist."""
    repo.config("[include]\n\tpath = ~nosuchuser/x\n[blame]\n\tignoreRevsFile = ~nosuchuser/x\n")


def make_config_huge(repo: Repo) -> None:
    """.git/config of 60 GB, sparse."""
    os.truncate(repo.root / ".git/config", 60_000_000_000)


def make_config_worktree_blame(repo: Repo) -> None:
    """A work tree that begins above the checkout, so that a file beside it counts as inside."""
    repo.git("read-tree", "--prefix=repo/", "HEAD")
    repo.git("commit", "-qm", "Move mail")
    repo.config("[core]\n\tworktree = ../..\n[blame]\n\tignoreRevsFile = outside.txt\n")


def make_nested_pipes(repo: Repo) -> None:
    """Ten nested checkouts, each with an ignored file and a pipe that git waits for."""
    for at in range(10):
        repo.write(f"n{at}/.gitignore", "*.log\n")
        repo.write(f"n{at}/a.log", "x\n")
        shutil.copytree(repo.root / ".git", repo.root / f"n{at}/.git")
        repo.write(f"n{at}/.git/config", "[core]\n\trepositoryformatversion = 0\n[include] path = ../pipe\n")
        repo.fifo(f"n{at}/pipe")


REPOSITORIES = {name[5:]: each for name, each in globals().copy().items() if name.startswith("make_")}


_CALL = re.compile(r"^(\d+) +(.*)$")
_TEXT = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
_WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_TMPFILE")


@dataclass(slots=True)
class Seen:
    """What the processes of one command did, as strace saw it."""

    connections: set[str] = field(default_factory=set)
    programs: set[str] = field(default_factory=set)
    git: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)


def calls_in(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each system call as its name, its arguments and its result; those in two parts are put together."""
    open_calls: dict[str, str] = {}
    for line in file.read_text(errors="replace").splitlines():
        match = _CALL.match(line)
        if match is None:
            continue
        process, text = match.groups()
        if text.endswith("<unfinished ...>"):
            open_calls[process] = text.removesuffix("<unfinished ...>")
            continue
        if text.startswith("<... "):
            text = open_calls.pop(process, "") + text.partition(" resumed>")[2]
        name, _, rest = text.partition("(")
        arguments, equals, result = rest.rpartition(" = ")
        if equals:
            yield name, arguments, result


def observed(file: Path, root: Path, own: set[str]) -> Seen:
    """Return what stands in a trace."""
    seen = Seen()
    for name, arguments, result in calls_in(file):
        if name == "connect":
            if "AF_INET" in arguments:
                seen.connections.add(re.sub(r"^[^{]*", "", arguments)[:120])
        elif name.startswith("execve"):
            if not result.startswith("-1"):
                _program(seen, arguments, own)
        elif result.startswith("-1"):
            continue
        elif name.startswith("open"):
            if _WRITING.search(arguments):
                seen.writes.add(result.partition("<")[2].rpartition(">")[0])
        else:
            named = _TEXT.findall(arguments)
            for folder, text in named if name.startswith("rename") else named[-1:]:
                seen.writes.add(os.path.normpath(Path(folder or root) / text))
    return seen


def _program(seen: Seen, arguments: str, own: set[str]) -> None:
    program, words = arguments.split('"')[1], re.findall(r'"((?:[^"\\]|\\.)*)"', arguments)
    if os.path.realpath(program) in own:
        return
    if os.path.realpath(program).startswith(("/usr/bin/git", "/usr/lib/git-core/", "/usr/libexec/git-core/")):
        named = [word for word in words[2:] if re.fullmatch(r"[a-z][a-z-]+", word)]
        seen.git.add(named[0] if named else "?")
        return
    seen.programs.add(" ".join(words[:1] if len(words) < 4 else words[1:4])[:80])


@dataclass(slots=True)
class Bench:
    """One case: a repository, an empty home, and what is promised of a command in it."""

    repo: Repo
    assay: Path
    timeout_s: float
    found: dict[str, list[str]] = field(default_factory=lambda: {key: [] for key in COLUMNS})

    def environment(self) -> dict[str, str]:
        """Return an environment whose home is empty."""
        home = self.repo.case / "home"
        folders = {
            f"XDG_{kind}_HOME": str(self.repo.case / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA", "STATE")
        }
        for folder in (home, self.repo.case / "tmp", *map(Path, folders.values())):
            folder.mkdir(exist_ok=True)
        path = f"{self.assay.parent}:/usr/local/bin:/usr/bin:/bin"
        return {
            "HOME": str(home),
            "PATH": path,
            "TMPDIR": str(self.repo.case / "tmp"),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            **folders,
        }

    def run(self, name: str, arguments: list[str]) -> None:
        """Run one command and note what it broke."""
        environment, trace = self.environment(), self.repo.case / f"trace.{name}"
        before = self.state(writes_here=name in {"install", "bench"})
        places = {"{out}": str(self.repo.case / "cache"), "{repo}": str(self.repo.root)}
        for mark, place in places.items():
            arguments = [each.replace(mark, place) for each in arguments]
        strace = [
            "strace",
            "-f",
            "-qq",
            "-y",
            "-s",
            "4096",
            "--seccomp-bpf",
            "-e",
            f"trace={SYSCALLS}",
            "-o",
            str(trace),
        ]
        process = subprocess.Popen(
            [*strace, str(self.assay), *arguments],
            cwd=self.repo.root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        timer = threading.Timer(self.timeout_s, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        started = time.monotonic()
        talk = {"mcp": talk_mcp, "serve": talk_http}.get(name, lambda each: each.communicate())
        try:
            out, err = talk(process)
        except OSError as error:
            out, err = b"", str(error).encode()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT if name == "serve" else signal.SIGTERM)
            out2, err2 = process.communicate()
            timer.cancel()
        self._judge(name, process.returncode, out + out2 + err + err2, time.monotonic() - started)
        self._judge_trace(
            name,
            observed(
                trace,
                NOWHERE if name == "url" else self.repo.root,
                {os.path.realpath(python_of(self.assay)), os.path.realpath(self.assay)},
            ),
        )
        after = self.state(writes_here=name in {"install", "bench"})
        self.note("writes", name, sorted({each[0] for each in before ^ after}))

    def note(self, column: str, command: str, what: object) -> None:
        """Note what a command did that it must not."""
        if what:
            self.found[column].append(
                f"{command}: {what if isinstance(what, str) else ', '.join(map(str, what))}"[:200]
            )

    def _judge(self, name: str, status: int, printed: bytes, seconds: float) -> None:
        text = printed.decode(errors="replace")
        if seconds >= self.timeout_s:
            self.note("verdict", name, f"hangs ({seconds:.0f} s)")
        elif status not in {0, 1, 2} and name not in {"serve", "mcp"}:
            self.note("verdict", name, f"status {status}")
        if "Traceback" in text or "internal error" in text:
            told = [line for line in text.splitlines() if "Traceback" in line or "internal error" in line]
            self.note("verdict", name, f"crashes: {told[0]}")
        for line in re.findall(r"^no answer: .*", text, re.MULTILINE):
            self.note("verdict", name, line)
        if "\x1b" in text or "\x07" in text:
            self.note("verdict", name, "prints escape sequences")
        held = printed + b"".join(map(read_start, (self.repo.case / "cache").rglob("*")))
        self.note("secrets", name, [key for key, value in self.repo.secrets.items() if value.encode() in held])

    def _judge_trace(self, name: str, seen: Seen) -> None:
        case = str(self.repo.case)
        allowed = [f"{case}/cache", f"{case}/tmp", "/dev/null", "/dev/tty", "pipe:", "/memfd:", "/dev/shm/sem"]
        allowed += [str(self.repo.root), f"{case}/data", f"{case}/state"] if name == "install" else []
        allowed += ["/new/", "/proc/"] if name == "doctor" else []  # the root of its sandbox
        allowed += [str(NOWHERE)] if name == "url" else []
        inside = {each for each in seen.connections if name == "doctor" and "127.0.0.1" in each}  # of its sandbox
        seen.programs -= {each for each in seen.programs if each.startswith("/bin/sh -c git-upload-pack ")}
        self.note("connections", name, sorted(seen.connections - inside))
        marks = sorted(each.name for each in (self.repo.case / "marks").iterdir())
        self.note("programs", name, sorted(seen.programs) + [f"RAN {mark}" for mark in marks])
        self.note("writes", name, sorted(each for each in seen.writes if each and not each.startswith(tuple(allowed))))
        self.note("git", name, sorted(seen.git))
        for each in (self.repo.case / "marks").iterdir():
            each.unlink()

    def state(self, *, writes_here: bool) -> set[tuple[str, ...]]:
        """Return a picture of the repository and of all around it but the cache."""
        outside = {
            each
            for each in self.repo.case.iterdir()
            if each.name not in {"cache", "marks", "tmp"} and "trace." not in each.name
        }
        outside -= {self.repo.root, self.repo.case / "data", self.repo.case / "state"} if writes_here else set()
        found: set[tuple[str, ...]] = set()
        for top in outside:
            for at, folders, names in os.walk(top):
                for path in (Path(at) / name for name in (*folders, *names) if len(at) < 3000):
                    about = path.lstat()
                    link = str(path.readlink()) if path.is_symlink() else ""
                    size = "" if stat.S_ISDIR(about.st_mode) else f"{about.st_size} {about.st_mtime_ns}"
                    found.add((str(path.relative_to(self.repo.case)), f"{about.st_mode} {size}", link))
        return found


COLUMNS = ("connections", "programs", "writes", "secrets", "verdict", "git")


def read_start(path: Path) -> bytes:
    """Return what a file of the cache holds."""
    return path.read_bytes() if path.is_file() else b""


def python_of(assay: Path) -> str:
    """Return the interpreter of an installation."""
    return assay.read_text().splitlines()[0].removeprefix("#!")


def talk_mcp(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Speak MCP: search, read files and git's, and name a URL; end when all is answered."""
    calls = [
        ("search", {"query": QUESTION}),
        ("read", {"path": "mail/send.py"}),
        ("search", {"query": QUESTION, "path": f"https://127.0.0.1:{PORT}/x"}),
    ]
    calls += [
        ("read", {"path": path})
        for path in (".git/config", ".env", "id_rsa", "elsewhere/outside.txt", "secret.py", "sub/../../outside.txt")
    ]
    calls += [("search", {"query": "remote origin url", "path": ".git"}), ("status", {}), ("outline", {})]
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    rows = [
        {"id": 0, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/list"},
    ]
    rows += [
        {"id": at, "method": "tools/call", "params": {"name": name, "arguments": given}}
        for at, (name, given) in enumerate(calls, 2)
    ]
    assert process.stdin
    assert process.stdout
    process.stdin.write("".join(json.dumps({"jsonrpc": "2.0", **row}) + "\n" for row in rows).encode())
    process.stdin.flush()
    left, printed = set(range(len(calls) + 2)), b""
    while left and (line := process.stdout.readline()):
        printed += line
        with contextlib.suppress(ValueError):
            left.discard(json.loads(line).get("id"))
    return printed, b""


def talk_http(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Ask the page and the API of a server whose address it prints."""
    assert process.stderr
    said = b""
    while b"http://" not in said and (line := process.stderr.readline()):
        said += line
    match = re.search(rb"http://127\.0\.0\.1:\d+", said)
    if match is None:
        return b"", said
    paths = ["/", f"/api/search?query={urllib.parse.quote(QUESTION)}", "/api/tree?path=.git", "/api/status"]
    files = ("mail/send.py", ".git/config", ".env", "elsewhere/outside.txt", "pipe.png", "big.png")
    paths += [f"/api/file?path={path}" for path in files]
    paths += [
        "/api/blame?path=mail/send.py&line=1",
        "/api/history?path=mail/send.py",
        "/api/labels",
        "/api/log?query=mail",
    ]
    printed = b""
    for path in paths:
        try:
            with urllib.request.urlopen(match[0].decode() + path, timeout=15) as answer:  # noqa: S310  our own
                printed += answer.read(5_000_000)
        except urllib.error.HTTPError as error:
            printed += error.read()
        except OSError as error:
            said += f"\nno answer: GET {path}: {error}\n".encode()
    return printed, said


PORT = 9
NOWHERE = Path("/nowhere")
"""Where relative names lie that a clone makes; it changes folders, and a trace does not say so."""


def build(name: str, folder: Path) -> Repo:
    """Make a repository with two commits, a key outside, and what its class adds."""
    repo = Repo(folder / name)
    (repo.case / "outside").mkdir(parents=True)
    (repo.case / "marks").mkdir()
    (repo.case / "outside.txt").write_text(f"{repo.secret('outside')} send mail\n")
    (repo.case / "outside/x.py").write_text(f"# send mail {repo.secret('outside folder')}\n")
    repo.write("mail/send.py", CODE)
    repo.git("init", "-qb", "main")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Send mail to people who ask for it")
    repo.write("mail/receive.py", CODE.replace("send", "receive"))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Receive mail from people who send it")
    REPOSITORIES[name](repo)
    return repo


def tested(name: str, given: argparse.Namespace, folder: Path) -> dict[str, list[str]]:
    """Return what the commands broke in one repository."""
    repo = build(name, folder)
    bench = Bench(repo, given.assay, given.timeout)
    known = COMMANDS | EXTRA
    for command in given.commands:
        bench.run(command, known[command])
    return bench.found


def main() -> int:
    """Test every repository, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--assay", type=Path, default=Path(shutil.which("assay") or "assay"), help="the command to test"
    )
    parser.add_argument("--only", action="append", default=[], choices=sorted(REPOSITORIES), metavar="NAME")
    parser.add_argument("--commands", default=",".join(COMMANDS), help=f"of {', '.join([*COMMANDS, *EXTRA])}; all")
    parser.add_argument("--timeout", type=float, default=30, help="seconds that are a hang")
    parser.add_argument("--list", action="store_true", help="list the repositories and end")
    given = parser.parse_args()
    given.assay = given.assay.absolute()
    if given.list:
        sys.stdout.write("\n".join(f"{name}: {make.__doc__}" for name, make in REPOSITORIES.items()) + "\n")
        return 0
    given.commands = [*COMMANDS, *EXTRA] if given.commands == "all" else given.commands.split(",")
    sys.stdout.write(
        "| repository | what it tries | connections | foreign processes | writes outside | secrets | verdict |" + "\n"
    )
    sys.stdout.write("|---|---|---|---|---|---|---|" + "\n")
    broken, git = 0, set[str]()
    names = given.only or list(REPOSITORIES)
    for name in names:
        folder = Path(tempfile.mkdtemp(prefix="hostile-"))
        try:
            found = tested(name, given, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        git |= {word for line in found.pop("git") for word in line.partition(": ")[2].split(", ")}
        fails = any(found.values())
        broken += fails
        cells = [
            "; ".join(found[key]).replace(str(folder), "…").replace("|", "\\|").replace("\n", " ") or "none"
            for key in list(COLUMNS)[:4]
        ]
        verdict = "; ".join(found["verdict"]).replace("|", "\\|") or ("BROKEN" if fails else "ok")
        cells = [name, (REPOSITORIES[name].__doc__ or "").strip(), *cells, verdict]
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
        sys.stdout.flush()
    told = f"{len(names)} repositories, {len(given.commands)} commands each: {broken} broken."
    sys.stdout.write(f"\n{told} git ran: {', '.join(sorted(git - {'?'}))}\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
