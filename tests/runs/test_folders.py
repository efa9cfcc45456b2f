"""Where runs lie, and what they are called."""

from pathlib import Path

import pytest
from biasscope.agents.engines.limited import Breaker
from biasscope.core.calls import Completion, Request
from biasscope.core.errors import CallFailed, EndpointError
from biasscope.runs.config import load_config
from biasscope.runs.folder import RunFolder, find_run

MODELS = {"judge": "openai:m@http://127.0.0.1:1/v1", "teacher": "openai:m@http://127.0.0.1:1/v1", "target": "builtin"}


def test_a_configuration_goes_before_the_environment(monkeypatch):
    monkeypatch.setenv("BIASSCOPE_WORKSPACE", "/from/environment")
    assert load_config(None, (), MODELS).workspace == Path("/from/environment")
    assert load_config(None, (), {**MODELS, "workspace": "/from/file"}).workspace == Path("/from/file")


def test_a_renamed_folder_still_holds_its_run(tmp_path):
    (tmp_path / "renamed").mkdir()
    (tmp_path / "renamed" / "config.yaml").write_text("name: first\n")
    assert find_run(str(tmp_path / "renamed"), tmp_path).run_id == "first"


def test_an_empty_configuration_is_called_empty(tmp_path):
    (tmp_path / "c.yaml").write_text("# nothing\n")
    with pytest.raises(Exception, match=r"c\.yaml: is empty"):
        load_config(tmp_path / "c.yaml")


class Flaky:
    name = "flaky"

    def __init__(self, *answers):
        self.answers = list(answers)

    async def complete(self, request):
        if self.answers.pop(0):
            return Completion(request_id=request.id, text="yes")
        raise CallFailed("connection", "refused")


async def failures_before_the_end(*answers):
    breaker, count = Breaker(Flaky(*answers, *[False] * 30), after=16), 0
    while True:
        try:
            await breaker.complete(Request(model="flaky", messages=()))
        except CallFailed:
            count += 1
        except EndpointError:
            return count


async def test_an_endpoint_that_never_answered_is_given_up_sooner():
    assert await failures_before_the_end() == 3
    assert await failures_before_the_end(True) == 16


def test_the_command_that_goes_on_with_a_run_can_be_pasted(tmp_path, monkeypatch):
    there = tmp_path / "a b" / "trial"
    there.mkdir(parents=True)
    (there / "config.yaml").write_text("name: trial\n")
    monkeypatch.setenv("BIASSCOPE_WORKSPACE", str(tmp_path))
    assert RunFolder(there).resume_command == f"biasscope resume '{there}'"
    monkeypatch.setenv("BIASSCOPE_WORKSPACE", str(there.parent))
    assert RunFolder(there).resume_command == "biasscope resume trial"
    monkeypatch.delenv("BIASSCOPE_WORKSPACE")
    monkeypatch.chdir(tmp_path)
    assert RunFolder(there).resume_command == f"biasscope resume '{there}'"
