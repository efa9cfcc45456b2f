"""What every kind of job has: a folder that knows its kind, models under one budget, steps done again for nothing."""

import pytest
from biasscope.agents.engines.reference import ModelSpec
from biasscope.core.calls import Message, Request
from biasscope.core.errors import ConfigError, StoreError
from biasscope.runs.config import JobConfig, load_config
from biasscope.runs.folder import find_run
from biasscope.runs.jobs import Desk, create, drive_job, forget_unstarted
from biasscope.simulation.scripted import Reply, ScriptedServer


class QuestionConfig(JobConfig):
    kind: str = "questions"
    model: ModelSpec
    questions: int = 3


async def ask_all(desk: Desk[QuestionConfig]) -> list[str | None]:
    model = desk.model("judge", desk.config.model)
    desk.begin({"questions": str(desk.config.questions)})

    async def ask(number: int) -> str:
        message = Message(role="user", content=f"question {number}")
        return (await model.complete(Request(model=model.name, messages=(message,)))).text

    return await desk.job.run_all("ask", range(desk.config.questions), ask, str)


def config(url: str, workspace, **more) -> QuestionConfig:
    given = {"model": f"openai:m@{url}", "workspace": str(workspace), "name": "q", **more}
    given["model"] = {"model": given["model"]}
    return load_config(None, (), given, kind=QuestionConfig)


def test_a_job_ends_at_its_budget_and_goes_on_with_what_was_paid_for(tmp_path):
    with ScriptedServer(lambda body: Reply(text=body["messages"][-1]["content"].upper())) as server:
        folder = create(config(server.url, tmp_path, budget={"calls": 2}))
        stopped = drive_job(folder, QuestionConfig, ask_all)
        assert (stopped.state, stopped.result) == ("budget", None)
        text = folder.config.read_text().replace("calls: 2", "calls: 5")
        folder.config.write_text(text)
        done = drive_job(folder, QuestionConfig, ask_all)
        assert (done.state, done.result) == ("finished", ["QUESTION 0", "QUESTION 1", "QUESTION 2"])
        assert len(server.requests) == 3
    assert folder.kind == "questions"


def test_each_command_finds_jobs_of_its_own_kind(tmp_path):
    create(config("http://127.0.0.1:1/v1", tmp_path))
    assert find_run("latest", tmp_path, kind="questions").run_id == "q"
    assert find_run("latest", tmp_path, kind=None).run_id == "q"
    with pytest.raises(ConfigError, match="of the kind 'questions', and this command takes 'discover'"):
        find_run("q", tmp_path)
    with pytest.raises(ConfigError, match="no run 'latest'"):
        find_run("latest", tmp_path)


def test_a_name_is_taken_once_and_free_again_when_nothing_began(tmp_path):
    folder = create(config("http://127.0.0.1:1/v1", tmp_path))
    with pytest.raises(ConfigError, match="already"):
        create(config("http://127.0.0.1:1/v1", tmp_path))
    forget_unstarted(folder)
    create(config("http://127.0.0.1:1/v1", tmp_path))


def test_another_model_is_refused_on_resume(tmp_path):
    with ScriptedServer(lambda body: Reply(text="yes")) as server:
        folder = create(config(server.url, tmp_path))
        drive_job(folder, QuestionConfig, ask_all)
        folder.config.write_text(folder.config.read_text().replace("openai:m", "openai:other"))
        with pytest.raises(ConfigError, match="models changed since this run began"):
            drive_job(folder, QuestionConfig, ask_all)


def test_jobs_that_begin_in_one_second_get_names_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr("biasscope.runs.jobs._drawn_name", lambda _: "2026-01-01-120000-m")
    made = [create(config("http://127.0.0.1:1/v1", tmp_path, name=None)) for _ in range(3)]
    assert [folder.run_id for folder in made] == [f"2026-01-01-120000-m{end}" for end in ("", "-2", "-3")]
    assert {folder.kind for folder in made} == {"questions"}


def test_a_workspace_that_is_a_file_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"the run's folder .* cannot be written: Not a directory"):
        create(config("http://127.0.0.1:1/v1", tmp_path / "file"))
