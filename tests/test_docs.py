"""Every command and every setting is documented, and the pages are up to date."""

import importlib.util
import re
from pathlib import Path

import biasscope
import pytest
import yaml
from biasscope.runs.config import load_config
from biasscope.runs.preferences import DpoConfig
from biasscope.runs.treatments import TreatmentConfig
from biasscope.training.settings import DpoSettings

DOCS = Path(biasscope.__file__).parent / "docs"
_spec = importlib.util.spec_from_file_location("make_settings", DOCS / "make_settings.py")
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)


@pytest.mark.parametrize("page", ["settings", "training_settings", "commands"])
def test_page_is_up_to_date(page):
    made = getattr(pages, page)()
    assert (DOCS / f"{page.replace('_', '-')}.md").read_text(encoding="utf-8") == made, (
        "run `python docs/make_settings.py`"
    )


@pytest.mark.parametrize("page", ["settings", "training_settings", "commands"])
def test_nothing_is_without_its_text(page):
    rows = [line for line in getattr(pages, page)().splitlines() if line.startswith("| `")]
    assert len(rows) > 30
    assert [row for row in rows if row.endswith("|  |")] == []


KINDS = {kind.model_fields["kind"].default: kind for kind in (DpoConfig, TreatmentConfig, DpoSettings)}


@pytest.mark.parametrize(("page", "kinds"), [("dpo", ["dpo"]), ("training", ["train-dpo", "treatment"])])
def test_configurations_that_are_shown_are_configurations(page, kinds):
    blocks = re.findall(r"```yaml\n(.*?)```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL)
    shown = [yaml.safe_load(block) for block in blocks]
    assert [values["kind"] for values in shown] == kinds
    for values in shown:
        load_config(None, (), values, kind=KINDS[values["kind"]])
