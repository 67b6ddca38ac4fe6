"""Which settings count for a root: its own file is obeyed only as far as it is harmless or trusted."""

import os
import subprocess
import sys
import warnings
from pathlib import Path
from shlex import quote

import pytest

import assay
from assay.errors import InputError, SettingsNotUsed
from assay.operations.indexes import root_of
from assay.operations.root_settings import UserSettings, read_root_file, revoke, root_settings, trust, trust_store
from assay.serve.session import Session
from assay.settings import HARMLESS, USER_ONLY, Settings, by_name

ASKS = """
[index]
location = "idx"
refresh = false
open_ignored = true
describe = "openai:m"
cache_gb = 1
chunk_lines = 20
[encoder]
spec = "api:m@http://127.0.0.1:9/v1"
[search]
weights = "w"
reranker = "rerank:m@http://127.0.0.1:9/v1"
limit = 3
"""


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def quietly(root: Path, given: UserSettings | None = None) -> Settings:
    """Return the settings of a root; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return root_settings(root, given or UserSettings())


def test_every_setting_is_either_harmless_or_the_user_s_alone():
    assert set(by_name(Settings())) == HARMLESS | USER_ONLY.keys()
    assert not HARMLESS & USER_ONLY.keys()
    asked = {line.split(" =")[0] for line in ASKS.splitlines() if "=" in line}
    assert {name.partition(".")[2] for name in USER_ONLY} < asked  # so the tests below ask for each


def test_what_only_the_user_decides_is_not_taken_from_a_repository_and_one_line_says_so(project: Path):
    (project / "assay.toml").write_text(ASKS)
    with pytest.warns(SettingsNotUsed) as said:
        settings = root_settings(project, UserSettings())
    wanted = by_name(Settings()) | {"index.chunk_lines": 20, "search.limit": 3}
    assert by_name(settings) == wanted
    (line,) = [str(each.message) for each in said]
    assert all(name in line for name in USER_ONLY)
    assert line.endswith(f"not used: see `assay trust {quote(str(project))}`")


def test_a_trusted_file_is_obeyed_until_it_changes(assay, project: Path):
    file = project / "assay.toml"
    file.write_text(ASKS)
    assert "not trusted" in assay("trust", project, "--dry-run").out
    shown = assay("trust", project).out
    assert all(name in shown for name in USER_ONLY)
    assert quietly(project).encoder.spec == "api:m@http://127.0.0.1:9/v1"
    assert assay("trust", "--list").out == f"{file}\n"
    file.write_text(ASKS + "\n")
    with pytest.warns(SettingsNotUsed):
        assert root_settings(project, UserSettings()).encoder == Settings().encoder
    assert "changed since" in assay("trust", "--list").out
    assay("trust", project)
    assert "no longer trusted" in assay("trust", project, "--revoke").out
    assert assay("trust", "--list").status == 1
    file.write_text("[search]\nlimit = 3\n")
    assert "nothing that needs trust" in assay("trust", project).out
    file.unlink()
    assert assay("trust", project).status == 2


def test_options_and_the_user_s_own_file_may_say_everything_whatever_a_repository_asks_for(
    project: Path, tmp_path: Path
):
    (project / "assay.toml").write_text('[encoder]\nspec = "hf:./m"\n')
    for options in (UserSettings(options={"encoder.spec": "hash"}), UserSettings(changes=("encoder.spec=hash",))):
        assert quietly(project, options).encoder.spec == "hash"
    own = tmp_path / "config" / "assay" / "assay.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[encoder]\nspec = "hash"\n[search]\nlimit = 7\n')
    (project / "assay.toml").write_text("[search]\nlimit = 3\n")
    found = quietly(project)
    assert (found.encoder.spec, found.search.limit) == ("hash", 3)
    other = tmp_path / "other.toml"
    other.write_text('[search]\nreranker = "cross:x"\n')
    assert quietly(project, UserSettings(config=other)).search.reranker == "cross:x"


def make_link(file: Path):
    target = file.parent / "elsewhere"
    target.write_text("[search]\nlimit = 1\n")
    file.symlink_to(target)


def test_a_file_that_cannot_be_read_is_one_line_and_the_defaults(project: Path):
    for make, said in (
        (make_link, "symbolic link"), (lambda file: file.symlink_to("nowhere"), "symbolic link"),
        (os.mkfifo, "not a regular file"), (lambda file: file.write_text("#" * 10_000_000), "larger than"),
        (lambda file: file.write_bytes(b"# \xff\n"), "not valid UTF-8"), (Path.mkdir, "not a regular file"),
    ):  # fmt: skip
        (project / "assay.toml").unlink(missing_ok=True)
        make(project / "assay.toml")
        with pytest.warns(SettingsNotUsed, match=said) as lines:
            assert root_settings(project, UserSettings()) == Settings()
        assert len(lines) == 1


def test_trust_is_of_the_bytes_that_were_read_and_a_store_that_cannot_be_read_trusts_nothing(project: Path):
    file = project / "assay.toml"
    file.write_text(ASKS)
    read = read_root_file(project)
    file.write_text(ASKS.replace("9/v1", "8/v1"))  # between reading and trusting
    trust(read)
    with pytest.warns(SettingsNotUsed):
        assert root_settings(project, UserSettings()).encoder == Settings().encoder
    trust(read_root_file(project))
    assert quietly(project).encoder != Settings().encoder
    trust_store().write_text("[]")
    with pytest.warns(SettingsNotUsed, match="no file is trusted"):
        assert root_settings(project, UserSettings()).encoder == Settings().encoder


def test_a_data_folder_that_cannot_be_written_is_an_error_of_trust_alone(assay, project: Path, tmp_path: Path):
    (project / "assay.toml").write_text(ASKS)
    (tmp_path / "data").write_text("a file where the folder would be")
    ran = assay("trust", project)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    with pytest.warns(SettingsNotUsed):
        assert assay("search", "send mail", project).status == 0
    assert not (project / "idx").exists()
    with pytest.raises(InputError):
        revoke(project) or trust(read_root_file(project))


def test_the_file_of_a_clone_is_never_read(project: Path):
    (project / "assay.toml").write_text(ASKS)
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    clone = root_of(project.as_uri())
    assert (clone / "assay.toml").is_file()
    assert quietly(clone) == Settings()


def test_a_checkout_inside_a_root_is_searched_with_the_user_s_settings(project: Path):
    inner = project / "inner"
    (inner / ".git").mkdir(parents=True)
    named = root_settings(None, UserSettings(options={"search.reranker": "rerank:of@http://the-root"}))
    session = Session({project: named}, elsewhere=Settings())
    assert session.place("inner").reader.settings == Settings()
    assert session.place("mail").reader.settings == named


def test_python_gets_a_warning_and_the_command_one_line(project: Path):
    (project / "assay.toml").write_text(ASKS)
    with pytest.warns(SettingsNotUsed):
        assert assay.search("where is mail sent", project)
    command = [sys.executable, "-m", "assay", "search", "where is mail sent", "."]
    ran = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert ran.returncode == 0
    assert [line for line in ran.stderr.splitlines() if "assay trust ." in line] == ran.stderr.splitlines()
    assert not (project / "idx").exists()
