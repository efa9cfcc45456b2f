"""Every command and every setting is documented, and the pages are up to date."""

import importlib.util
from pathlib import Path

import biasscope
import pytest

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
