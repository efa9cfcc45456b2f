"""Wrong values are named in our words, with the field and the value, and secrets are not repeated."""

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from biasscope.core.mistakes import mistakes
from biasscope.runs.config import load_config
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator


class Inner(BaseModel):
    share: float = Field(0.5, gt=0, lt=1)


class Thing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=5, pattern="^[a-z]+$")] = "a"
    kind: Literal["one", "two"] = "one"
    count: int = Field(1, ge=1, le=9)
    on: bool = True
    many: list[int] = Field(default=[1], min_length=1, max_length=2)
    inner: Inner = Inner()
    headers: dict[str, str] = Field(default_factory=dict)
    either: int | None = None
    path: Path = Path()

    @model_validator(mode="after")
    def _whole(self) -> "Thing":
        if self.count == 7:
            raise ValueError("count 7 brings bad luck: take 6")
        return self


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "name: is empty (got '')"),
        ({"name": "x" * 200}, "name: may have 5 characters at most (got '" + "x" * 76 + "...)"),
        ({"name": "UP"}, "name: must have the form ^[a-z]+$ (got 'UP')"),
        ({"name": 3}, "name: must be a text (got 3)"),
        ({"kind": "three"}, "kind: must be 'one' or 'two' (got 'three')"),
        ({"count": 0}, "count: must be 1 or more (got 0)"),
        ({"count": 10}, "count: must be 9 or less (got 10)"),
        ({"count": 1.5}, "count: must be a whole number (got 1.5)"),
        ({"count": "many"}, "count: must be a whole number (got 'many')"),
        ({"count": 7}, "count 7 brings bad luck: take 6"),
        ({"on": "perhaps"}, "on: must be true or false (got 'perhaps')"),
        ({"many": 1}, "many: must be a list (got 1)"),
        ({"many": []}, "many: is empty (got [])"),
        ({"many": [1, "b"]}, "many.1: must be a whole number (got 'b')"),
        ({"inner": 4}, "inner: must be a mapping of names (got 4)"),
        ({"inner": {"share": 1}}, "inner.share: must be less than 1.0 (got 1)"),
        ({"inner": {"share": "half"}}, "inner.share: must be a number (got 'half')"),
        ({"nmae": "a"}, "nmae: is unknown; check the spelling"),
        ({"headers": "Bearer abc"}, "headers: must be a mapping of names"),
        ({"headers": {"authorization": 5}}, "headers.authorization: must be a text"),
        ({"path": 5}, "path: must be a path (got 5)"),
    ],
)
def test_wording(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Thing.model_validate(given)
    assert mistakes(caught.value) == [said]


def test_an_unknown_name_comes_with_the_nearest() -> None:
    class Outer(BaseModel):
        thing: Thing | Inner | None = None
        named: dict[str, list[Thing]] = Field(default_factory=dict)

    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"named": {"count": [{"nmae": "a"}, {"zzz": 1}]}})
    said = mistakes(caught.value, kind=Outer)
    assert said == [
        "named.count.0.nmae: is unknown; did you mean name?",
        "named.count.1.zzz: is unknown; check the spelling",
    ]


def test_json_and_what_is_not_a_field() -> None:
    with pytest.raises(ValidationError) as caught:
        Thing.model_validate_json("{")
    assert mistakes(caught.value, "the object")[0].startswith("the object: is not JSON: EOF while parsing")
    with pytest.raises(ValidationError) as caught:
        Thing.model_validate([1])
    assert mistakes(caught.value, "the thing") == ["the thing: must be a mapping of names (got [1])"]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (
            "judge=gpt-4o",
            "judge: 'gpt-4o' is no model reference: it starts with none of openai:, local:, ",
        ),
        ("judge.slots=0", "judge.slots: must be 1 or more (got 0)"),
        ("judge.mode=odd", "judge.mode: must be 'reasoning' or 'verdict' (got 'odd')"),
        ("judge.headers=Bearer hunter2", "judge.headers: must be a mapping of names"),
        ("judge.base_url=ftp://me:hunter2@host", "judge.base_url: 'ftp://...@host' is no http address"),
        ("orders=all", "orders: must be 'drawn' or 'both' (got 'all')"),
        ("target.columns.prompt=q", "target.columns: columns: give either chosen and rejected"),
        ("budget.cals=3", "budget.cals: is unknown; did you mean calls?"),
        ("target.limt=3", "target.limt: is unknown; did you mean limit?"),
        ("judge.temperatur=0", "judge.temperatur: is unknown; did you mean temperature?"),
        ("validaton.batch=3", "validaton: is unknown; did you mean validation?"),
        ("validation.alpha=2", "validation.alpha: must be less than 1.0 (got 2)"),
    ],
)
def test_configurations(setting: str, said: str) -> None:
    given = {"judge": "openai:m", "teacher": "openai:m", "target": "builtin"}
    with pytest.raises(Exception, match=r"^configuration: ") as caught:
        load_config(None, [setting], given)
    assert str(caught.value).removeprefix("configuration: ").startswith(said)
    for leaked in ("Value error", "Input should", "hunter2", "\n"):
        assert leaked not in str(caught.value)
