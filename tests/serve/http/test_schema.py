"""What the schema says and what the server does are one: schemathesis looks for requests where they are not."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("schemathesis")

import schemathesis
from hypothesis import HealthCheck, given, settings

from assay.serve.engine import Waits
from assay.serve.http.app import app_of
from assay.serve.http.work import AnswerThreads
from assay.serve.labels import Labeller
from assay.serve.report_data import Reports
from assay.serve.session import Session
from assay.settings import Settings

CONFIG = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "400", "404", "409"]
"""
"""No schema can say which paths are there, and which text is a pattern."""
OPERATIONS = [
    *((f"/api/{name}", "get") for name in "roots search related outline pattern status labels facets examples".split()),
    *((f"/api/{name}", "get") for name in "bench file find tree blame history".split()),
    ("/api/bench/{name}", "get"),
    ("/api/bench/{name}/plots/{number}.svg", "get"),
    ("/api/rank", "post"),
    ("/api/labels", "post"),
]
NEVER_WRONG = {("/api/roots", "negative"), ("/api/bench", "negative")}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("schema") / "box"
    root.mkdir()
    (root / "a.py").write_text("def send_mail(to):\n    return to\n")
    (root / "b.md").write_text("# Mail\n\nIt is sent.\n")
    session = Session({root: Settings()}, waits=Waits(fresh_s=60.0))
    app = app_of(session, Labeller(session, "me"), Reports(()), AnswerThreads(most=2))
    config = schemathesis.Config.from_str(CONFIG)
    return schemathesis.openapi.from_asgi("/openapi.json", app, config=config)


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_the_server_does_what_the_schema_says(api: Any, path: str, method: str, mode: Any):
    if (path, mode.value) in NEVER_WRONG:
        pytest.skip("nothing about it can be wrong")

    @settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(api[path][method].as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate()

    ask()
