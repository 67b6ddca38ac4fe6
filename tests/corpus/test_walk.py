"""A walk keeps what git and the user keep, names what it leaves out, and gives up on nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.corpus.walk import folder_level, walk
from assay.corpus.walked_files import Skipped, read
from assay.errors import InputError
from git_repositories import commit, repository


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


def grow(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def paths(root: Path, **settings) -> list[str]:
    return [entry.path for entry in walk(root, **settings).files]


def reasons(root: Path) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in walk(root).skipped}


def test_files_come_sorted_with_size_and_time_and_one_that_is_gone_is_named(tmp_path):
    grow(tmp_path, {"b.py": "12", "a/c.py": "1", "a.py": ""})
    found = walk(tmp_path).files
    assert [(entry.path, entry.size) for entry in found] == [("a.py", 0), ("a/c.py", 1), ("b.py", 2)]
    assert found[2].mtime_ns == (tmp_path / "b.py").stat().st_mtime_ns
    (tmp_path / "a.py").unlink()
    assert read(tmp_path, found[0]) == Skipped("a.py", "cannot be read: No such file or directory")


def test_gitignore_is_nested_anchored_and_negated(tmp_path):
    grow(
        tmp_path,
        {
            ".gitignore": "*.log\n/top.py\nout/\ndeep/**/skip.py\n",
            "top.py": "", "sub/top.py": "", "a.log": "", "sub/out/x.py": "", "deep/a/b/skip.py": "",
            "sub/.gitignore": "!keep.log\n*.tmp\n", "sub/keep.log": "", "sub/b.log": "", "sub/c.tmp": "", "c.tmp": "",
        },
    )  # fmt: skip
    assert paths(tmp_path) == [".gitignore", "c.tmp", "sub/.gitignore", "sub/keep.log", "sub/top.py"]
    assert reasons(tmp_path)["sub/out/"] == "ignored by .gitignore"


def test_git_rules_outside_the_folder_hold_too(tmp_path, home):
    grow(home, {".gitconfig": "[core]\n\texcludesFile = ~/mine\n", "mine": "*.mine\n"})
    grow(tmp_path, {".git/info/exclude": "*.local\n", ".gitignore": "/app/x.py\n*.up\n"})
    grow(tmp_path, {"app/x.py": "", "app/y.py": "", "app/a.mine": "", "app/a.local": "", "app/a.up": ""})
    assert paths(tmp_path / "app") == ["y.py"]


def test_what_git_tracks_is_kept_whatever_a_rule_says_of_its_name(tmp_path):
    root = repository(tmp_path / "shop", {"cmd/shop/main.go": "", "cmd/shop/sub/x.go": "", "a.log": "", "web.go": ""})
    commit(root, {".gitignore": "shop\n*.log\nsecret/\n"})
    grow(root, {"b.log": "", "cmd/shop/made.go": "", "cmd/shop/new/y.go": "", "secret/z.go": "", "shop": ""})
    kept = [".gitignore", "a.log", "cmd/shop/main.go", "cmd/shop/sub/x.go", "web.go"]
    assert paths(root) == kept
    assert paths(root / "cmd") == ["shop/main.go", "shop/sub/x.go"]
    inside = dict.fromkeys(("cmd/shop/made.go", "cmd/shop/new/"), "in an ignored folder")
    assert reasons(root) == dict.fromkeys(("b.log", "secret/", "shop"), "ignored by .gitignore") | inside
    assert [entry.path for entry in folder_level(root, "cmd/shop").files] == ["cmd/shop/main.go"]
    assert paths(tmp_path) == [f"shop/{path}" for path in kept]  # a folder of repositories
    (root / ".assayignore").write_text("cmd/shop/sub/\n")
    assert "cmd/shop/sub/x.go" not in paths(root)


def test_assayignore_forces_in_over_built_in_rules_and_over_git_only_if_the_user_says_so(tmp_path):
    grow(
        tmp_path,
        {
            ".gitignore": "gen/\n*.gen\n",
            ".assayignore": "!gen/api/\n!node_modules/mine/\n!a.gen\n!vendor/\nsecret.py\n",
            "gen/api/x.py": "", "gen/other.py": "", "node_modules/mine/i.js": "", "node_modules/o/i.js": "",
            "a.gen": "", "b.gen": "", "secret.py": "", "go.mod": "", "vendor/v.go": "",
        },
    )  # fmt: skip
    assert paths(tmp_path) == [".assayignore", ".gitignore", "go.mod", "node_modules/mine/i.js", "vendor/v.go"]
    assert paths(tmp_path, open_ignored=True) == [
        ".assayignore", ".gitignore", "a.gen", "gen/api/x.py", "go.mod", "node_modules/mine/i.js", "vendor/v.go",
    ]  # fmt: skip
    assert walk(tmp_path).rules != walk(tmp_path, open_ignored=True).rules
    assert reasons(tmp_path)["secret.py"] == "ignored by .assayignore"


KEYS = (
    ".env .env.local prod.env .npmrc .netrc server.pem server.key id_rsa id_ed25519 infra/main.tfvars"
    " .git-credentials keys/deploy.ppk terraform.tfstate"
).split()


@pytest.mark.parametrize("opened", ["!.git/**\n!/[.]git/**\n!**/.git\n", "!**\n!*\n"])
def test_no_rule_of_a_repository_opens_what_git_keeps_closed(tmp_path, opened):
    root = repository(tmp_path / "shop", {"web.py": "", "ca.pem": "committed"})
    inner = {".git/config": "[token]", "sub/.git/config": "", ".svn/entries": "", ".hg/store": "", "notes.txt": ""}
    bare = dict.fromkeys(("x/mirror/HEAD", "x/mirror/config", "x/mirror/objects/a", "x/mirror/refs/b"), "")
    plain = [".env.example", ".env.sample", "environment.py", "key.py", "keys/README.md"]
    grow(
        root,
        {**inner, **bare, **dict.fromkeys(KEYS, "secret"), **dict.fromkeys(plain, ""), ".gitignore": "notes.txt\n"},
    )
    (root / ".assayignore").write_text(opened + "".join(f"!{key}\n" for key in KEYS) + "!notes.txt\n")
    assert paths(root) == [".assayignore", *plain[:2], ".gitignore", *plain[2:], "web.py"]
    found = reasons(root)
    assert {found[key] for key in (*KEYS, "ca.pem")} == {"may hold keys or passwords"}
    seen = paths(root, open_ignored=True)
    assert {*KEYS, "notes.txt"} < {*seen}
    assert not [path for path in seen if ".git/" in path or ".svn" in path or ".hg" in path or "mirror" in path]


MADE = {
    "node_modules/": {"node_modules/a.js"}, "build/": {"build/a.py", "build/CMakeCache.txt"},
    "gradle/build/": {"gradle/build/a.java", "gradle/build.gradle"}, "target/": {"target/a.rs", "Cargo.toml"},
    "dist/": {"dist/a.js", "package.json"}, "vendor/": {"vendor/a.go", "vendor/modules.txt"},
    "env/": {"env/a.py", "env/pyvenv.cfg"}, "x/": {"x/a.py", "x/CACHEDIR.TAG"},
    **{name: {name} for name in ("a.png", "a.min.js", "yarn.lock")},
}  # fmt: skip


def test_what_nobody_wrote_is_left_out_and_named_and_a_common_name_without_a_witness_is_kept(tmp_path):
    grow(tmp_path, dict.fromkeys(set().union(*MADE.values()), ""))
    assert set(reasons(tmp_path)) == set(MADE)
    assert paths(tmp_path) == ["Cargo.toml", "gradle/build.gradle", "package.json"]
    kept = [f"src/{name}/a.py" for name in sorted("build dist target vendor out env third_party".split())]
    grow(tmp_path, dict.fromkeys(kept, ""))
    assert [path for path in paths(tmp_path) if path.startswith("src/")] == kept


def test_a_large_file_is_named_with_its_size_and_what_is_no_folder_is_an_error(tmp_path):
    grow(tmp_path, {"a.py": "x" * 2_000_000})
    assert reasons(tmp_path) == {"a.py": "2.0 MB, larger than 1.0 MB"}
    for most in (2_000_000, 3_000_000):
        assert paths(tmp_path, largest_bytes=most) == ["a.py"]
    for name, said in (("none", "does not exist; give"), ("a.py", "not a folder; give")):
        with pytest.raises(InputError, match=said):
            walk(tmp_path / name)


def test_links_are_not_followed_and_a_pipe_is_no_file(tmp_path):
    grow(tmp_path / "root", {"a/x.py": ""})
    grow(tmp_path / "outside", {"y.py": ""})
    (tmp_path / "root/a/loop").symlink_to("..")
    (tmp_path / "root/out").symlink_to(tmp_path / "outside")
    (tmp_path / "root/again.py").symlink_to("a/x.py")
    (tmp_path / "root/broken").symlink_to("nowhere")
    assert paths(tmp_path / "root") == ["a/x.py"]
    os.mkfifo(tmp_path / "root/pipe")
    found = reasons(tmp_path / "root")
    assert found.pop("pipe") == "not a regular file"
    assert set(found) == {"a/loop", "out", "again.py", "broken"}
    assert set(found.values()) == {"a symbolic link"}


def test_a_repository_is_walked_in_one_checkout_only(tmp_path):
    grow(tmp_path, {"a.py": "", ".git/HEAD": "", ".git/worktrees/w/commondir": "../..\n"})
    grow(tmp_path, {"w/.git": f"gitdir: {tmp_path}/.git/worktrees/w\n"})
    grow(tmp_path, dict.fromkeys(("w/a.py", "other/.git/HEAD", "other/b.py"), ""))
    assert paths(tmp_path) == ["a.py", "other/b.py"]
    assert "another checkout" in reasons(tmp_path)["w/"]


def test_a_name_in_another_encoding_is_listed_and_read(tmp_path):
    name = os.fsdecode(b"caf\xe9.py")
    grow(tmp_path, {name: "x = 1\n", ".gitignore": "c*f*.txt\n"})
    _, entry = walk(tmp_path).files
    assert entry.path == "caf\\xe9.py"
    assert read(tmp_path, entry) == "x = 1\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_named(tmp_path):
    grow(tmp_path, {"a/x.py": "", "b.py": ""})
    (tmp_path / "a").chmod(0)
    assert paths(tmp_path) == ["b.py"]
    assert "Permission denied" in reasons(tmp_path)["a/"]
    (tmp_path / "a").chmod(0o700)


def test_known_paths_are_matched_again_when_the_rules_are_others(tmp_path):
    grow(tmp_path, {"a/x.py": "", "b.py": ""})
    before = walk(tmp_path).rules
    grow(tmp_path, {"c.py": ""})
    assert walk(tmp_path).rules == before
    grow(tmp_path, {"a/.gitignore": "x.py\n"})
    first = walk(tmp_path)
    assert first.rules != before
    trusted = walk(tmp_path, known_paths={"a/x.py", "b.py"}, rules=first.rules)
    assert [entry.path for entry in trusted.files] == ["a/.gitignore", "a/x.py", "b.py", "c.py"]
    assert walk(tmp_path, known_paths={"a/x.py", "b.py"}, rules="others") == first


def test_rules_that_may_never_end_or_take_all_memory_are_not_read(tmp_path):
    grow(tmp_path, dict.fromkeys(["device/a.py", "pipe/a.py", "large/a.py", "top.py"], ""))
    grow(tmp_path, {"deep/.gitignore": "a/**/" * 190_000})
    for name in (".gitignore", ".assayignore"):
        (tmp_path / "device" / name).symlink_to("/dev/zero")
        os.mkfifo(tmp_path / "pipe" / name)
        with (tmp_path / "large" / name).open("wb") as rules:
            rules.truncate(10**10)
    assert paths(tmp_path) == ["deep/.gitignore", "device/a.py", "large/a.py", "pipe/a.py", "top.py"]
    found = [reason for reason in reasons(tmp_path).values() if "rules cannot be read" in reason]
    assert [sum(why in reason for reason in found) for why in ("no regular file", "too large to match")] == [6, 1]


def test_one_folder_is_what_a_walk_finds_there(tmp_path):
    grow(
        tmp_path,
        {
            ".gitignore": "*.log\n/made/\n", "a/b/c.py": "1", "a/b/c.log": "1", "a/b/deep/d.py": "1",
            "a/b/big.txt": "1" * 2_000_000, "a/e.png": "1", "made/f.py": "1", "node_modules/g.js": "1",
        },
    )  # fmt: skip
    level = folder_level(tmp_path, "a/b")
    assert level is not None
    assert level.folders == ("a/b/deep",)
    assert [entry.path for entry in level.files] == ["a/b/big.txt", "a/b/c.py"]
    assert [(each.path, each.reason) for each in level.skipped] == [("a/b/c.log", "ignored by .gitignore")]
    assert folder_level(tmp_path, "").folders == ("a",)
    assert [entry.path for entry in folder_level(tmp_path, "a/b", "c.py").files] == ["a/b/c.py"]
    assert folder_level(tmp_path, "a", "e.png").skipped[0].reason == "binary"
    for hidden in ("made", "node_modules", "a/nothing", "a/b/c.py"):
        assert folder_level(tmp_path, hidden) is None


def test_a_repository_that_git_cannot_read_holds_nothing_up(tmp_path, monkeypatch):
    """Its rules alone decide, as they do where there is no git."""
    root = repository(tmp_path / "shop", {"a.log": "", "web.go": ""})
    commit(root, {".gitignore": "*.log\n"})
    assert paths(root) == [".gitignore", "a.log", "web.go"]
    os.mkfifo(tmp_path / "pipe")
    (root / ".git" / "config").write_text(f"[include]\npath = {tmp_path / 'pipe'}\n")
    monkeypatch.setattr("assay.corpus.walk._PATIENCE_S", 0.2)
    assert paths(root) == [".gitignore", "web.go"]
    assert reasons(root)["a.log"] == "ignored by .gitignore"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert paths(root) == [".gitignore", "web.go"]
