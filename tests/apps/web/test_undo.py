"""Every kind of decision is made in the browser and taken back there, and the library stands as it stood before."""

import pytest
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.events import Stamp, add
from biasscope.bias_library.library import load_library
from playwright.sync_api import expect

pytestmark = pytest.mark.slow
NAME, OTHER = "Loud titles", "Big headings"
DECISIONS = {
    "approve": ("Approve", {}),
    "reject": ("Reject", {}),
    "rename": ("Rename", {"name": "Shouted headings"}),
    "edit": ("Edit", {"definition": "Capitals are rewarded.", "manifestation": "ALL CAPS"}),
    "merge": ("Merge", {"into": OTHER}),
    "split": ("Split", {"name1": "Capitals", "definition1": "x", "name2": "Size", "definition2": "y"}),
    "retire": ("Retire", {}),
}


@pytest.fixture
def app(serve, run_with, tmp_path):
    stamp = Stamp("small", 0, "biasscope")
    biases = [make_bias(name, f"The judge rewards {name}.", origin="discovered") for name in (NAME, OTHER)]
    run_with(tmp_path, "small", *(add(s, b) for s, b in zip((stamp, stamp.next()), biases, strict=True)))
    served = serve(tmp_path)
    served.bias = biases[0].id
    return served


def standing(app):
    """Every bias with what holds for it, and the lines of the history."""
    with app.store("small") as store:
        library = load_library(store, "small")
    return {e.bias.id: (e.bias, e.status, e.merged_into, e.split_into) for e in library}, library.events


@pytest.mark.parametrize("kind", DECISIONS)
def test_a_decision_and_its_undo_are_lines_with_author_and_reason(app, visit, kind):
    before, lines = standing(app)
    name, fields = DECISIONS[kind]
    page = visit(f"{app.url}/runs/small/biases/{app.bias}")
    page.locator(".actions > details > summary", has_text=name).click()
    form = page.locator(".actions > details[open] form")
    for field, text in fields.items():
        form.locator(f"[name={field}]").fill(text)
    form.locator("[name=reason]").fill(f"why {kind}")
    form.locator(":scope > button").click()
    expect(page.get_by_role("status").first).to_contain_text("Written")
    decided, more = standing(app)
    assert decided != before
    [made] = more[len(lines) :]
    assert (made.author, made.reason, made.bias_id) == ("Ada", f"why {kind}", app.bias)

    row = page.locator("section[aria-labelledby=history] tbody tr", has_text=f"why {kind}")
    expect(row.locator("td[data-label=By]")).to_have_text("Ada")
    row.get_by_text("Undo").click()
    row.locator("[name=reason]").fill("a mistake")
    row.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("status").first).to_contain_text("Taken back")
    after, events = standing(app)
    assert after == before
    assert (events[-1].kind, events[-1].author, events[-1].reason) == ("undo", "Ada", "a mistake")
    assert events[: len(more)] == more, "nothing is overwritten"

    page.goto(f"{app.url}/runs/small/timeline?by=people")
    expect(page.locator("table.history td[data-label=Reason]")).to_have_text(["a mistake", f"why {kind}"])
