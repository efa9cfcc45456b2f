"""The protocol of docs/planted.md with a judge over HTTP that obeys its system prompt."""

from pathlib import Path

import pytest
import yaml
from biasscope.core.ids import content_id
from biasscope.simulation.scripted import Reply, ScriptedServer
from world_runs import over, results, start

EXAMPLES = Path(__file__).parents[2] / "runs" / "examples"


def obedient(body):
    """Prefers bullet points when it is told to, else whatever; what it says depends on the two answers alone."""
    system, user = (message["content"] for message in body["messages"])
    first, second = (part.split("</")[0] for part in user.split("<answer_")[1:3])
    bullets = [text.count("\n- ") for text in (first, second)]
    if "bullet points" in system and bullets[0] != bullets[1]:
        return Reply(text="A" if bullets[0] > bullets[1] else "B")
    return Reply(text="A" if content_id("whim", first) < content_id("whim", second) else "B")


@pytest.mark.parametrize(("planted", "valid"), [(True, ["Bullet points"]), (False, [])])
def test_the_planted_bias_is_found_and_the_control_finds_none(tmp_path, planted, valid):
    example = yaml.safe_load((EXAMPLES / "planted.yaml").read_text(encoding="utf-8"))
    pairs = {"source": "builtin", "max_chars": None}
    with ScriptedServer(obedient) as server:
        here = {
            "name": "planted",
            "workspace": str(tmp_path),
            "library": str(EXAMPLES / "planted-candidates.json"),
            "judge": {"model": "openai:m", "base_url": server.url, "slots": 4},
            "embedder": {"model": "openai:m", "base_url": server.url},
            "target": pairs,
            "test": pairs | {"limit": 36, "seed": 1},
        }
        if not planted:
            here["judge"]["planted"] = None
        outcome = start(over(example, here))
    found = results(outcome.folder)
    names = {e["bias_id"]: e["payload"]["bias"]["name"] for e in found["LibraryEvent"] if e["kind"] == "add"}
    assert sorted(names.values()) == ["Bullet points", "Exclamation marks"]
    assert [names[v["bias_id"]] for v in found["Validation"] if v["decision"] == "valid"] == valid
    assert all(("planted" in v["judge"]) == planted and v["n"] >= 6 for v in found["Validation"])
