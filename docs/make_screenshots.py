"""Take the pictures of docs/review.md: `python docs/make_screenshots.py`.

Makes a run on the easy planted world, serves it, and looks at it with Chromium (Debian: apt-get install chromium) into
docs/review/. The pictures are palettes of 256 colours, so that each stays under 200 kB.
"""

import io
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from biasscope.apps.web.app import create_app
from biasscope.apps.web.people import FILE, Reviewer
from biasscope.apps.web.setting import Setting
from biasscope.apps.web.site import Site
from biasscope.core.records import AnnotationLabel, Item
from biasscope.data.annotations import make_annotation
from biasscope.runs.config import load_config
from biasscope.runs.folder import RunFolder
from biasscope.runs.jobs import create, open_store
from biasscope.runs.launch import run
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.server import WorldServer
from biasscope.simulation.world import World, load_world
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent / "review"
LARGEST = 200_000
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def settings(folder: Path, url: str, world: World, name: str, **more: Any) -> dict[str, Any]:
    """A small run on pairs of the world."""
    sources = {}
    for part, count, seed in (("target", 40, 1), ("test", 150, 2)):
        path = folder / f"{part}.jsonl"
        rows = [pair.model_dump(include={"id", "prompt", "chosen", "rejected", "domain"}) for pair in
                world_pairs(world, count, seed)]  # fmt: skip
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        sources[part] = {"source": str(path), "columns": {k: k for k in rows[0]}}
    model = {"model": "openai:world", "base_url": url, "max_concurrency": 8}
    values = {"name": name, "workspace": str(folder / "runs"), "judge": model, "teacher": model, "embedder": model}
    values |= sources | {"discovery": {"iterations": 2, "misjudgments": "any"}, "orders": "both"}
    values |= {"validation": {"seeds": False, "batch": 30, "confirm_share": 0.34}, "budget": {"calls": 100_000}}
    return values | more


def benchmark(folder: Path, world: World) -> None:
    """A benchmark that waits for annotators, some of whom have been there."""
    pairs = world_pairs(world, 24, 5)
    made = create(load_config(None, (), settings(folder, "http://127.0.0.1:9/v1", world, "bench")))
    made.config.write_text("kind: benchmark\nname: bench\n", encoding="utf-8")
    store = open_store(RunFolder(made.path))
    store.write_now(
        *pairs,
        *(
            Item(id=f"row-{p.id}", run_id="bench", pair_id=p.id, source_pair_id=p.id, bias_id="b",
                 perturbation_id="p", misled=("judge",), misled_before=(), answers="unsettled")
            for p in pairs
        ),
    )  # fmt: skip
    for k, pair in enumerate(pairs[:15]):
        first: AnnotationLabel = "broken" if k == 4 else "same" if k % 3 == 0 else "different"
        second: AnnotationLabel = "same" if k == 2 else "different" if k == 9 else first
        store.write_now(make_annotation("bench", pair.id, "bo", first))
        store.write_now(make_annotation("bench", pair.id, "cyd", second))
    reviews: tuple[tuple[str, AnnotationLabel], ...] = (("dan", "same"), ("eve", "different"))
    for name, label in reviews:
        store.write_now(make_annotation("bench", pairs[2].id, name, label, round="review", comment="see the last line"))
    store.close()


def make_runs(folder: Path, url: str, world: World) -> Path:
    """Two finished runs, one that waits for a decision, and a benchmark; returns their workspace."""
    for name, more in (
        ("first", {}),
        ("second", {"seed": 3}),
        ("waiting", {"approve": True, "discovery": {"iterations": 1, "misjudgments": "any"}}),
    ):
        values = settings(folder, url, world, name, **more)
        if name != "first":
            values["test"] = {**values["test"], "limit": 90}
            values["validation"] = {"seeds": False, "batch": 30}
        print(f"the run {name} is {run(create(load_config(None, (), values))).state}")
    benchmark(folder, world)
    return folder / "runs"


@contextmanager
def served(workspace: Path) -> Iterator[str]:
    """The app on a free port."""
    app = create_app(Setting(Site(workspace), workspace / FILE, Reviewer(name="Ada", role="admin")))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def keep(page: Page, name: str, **options: Any) -> None:
    """Write a picture."""
    page.wait_for_load_state("load")
    page.locator("[hx-trigger=load], .htmx-request").first.wait_for(state="detached")
    page.evaluate("document.fonts.ready")
    page.evaluate("Promise.all([...document.images].map(i => (i.loading = 'eager', i.decode().catch(() => 0))))")
    image = Image.open(io.BytesIO(page.screenshot(animations="disabled", **options))).convert("RGB")
    path = HERE / f"{name}.png"
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size >= LARGEST:
        sys.exit(f"{path}: {path.stat().st_size:,} bytes; it may have {LARGEST:,}")
    print(f"{path.name}: {image.width} x {image.height}, {path.stat().st_size:,} bytes")


def opened(browser: Browser, address: str, **options: Any) -> Page:
    """A page in a profile of its own."""
    page = browser.new_context(**{"viewport": DESK, **options}).new_page()
    page.goto(address)
    return page


def upto(height: int) -> dict[str, Any]:
    """The upper part of a long page."""
    return {"clip": {"x": 0, "y": 0, "width": DESK["width"], "height": height}, "full_page": True}


def look(browser: Browser, url: str) -> None:
    """The pages of the runs that stand still and of the benchmark."""
    page = opened(browser, f"{url}/runs/first")
    keep(page, "library")
    harmful = page.locator("tr:has(.pill.confirmed), tr:has(.pill.valid)").first.locator("a.name").get_attribute("href")
    page.goto(f"{url}{harmful}")
    keep(page, "bias", **upto(1500))
    page.locator(".actions summary", has_text="Rename").click()
    page.locator(".actions > details[open] [name=name]").fill("Claims of having checked")
    page.locator(".actions > details[open] [name=reason]").fill("Says what is rewarded: the claim, not the check.")
    page.get_by_role("heading", name="Decide").evaluate("e => e.scrollIntoView()")
    keep(page, "decide")
    page.goto(f"{url}{harmful}/evidence")
    keep(page, "evidence", **upto(1300))
    for name, path in (
        ("lineage", "/runs/first/lineage"),
        ("compare", "/diff?a=first&b=second"),
        ("approval", "/runs/waiting/approval"),
        ("annotate", "/runs/bench/annotate"),
        ("settle", "/runs/bench/annotate/adjudicate"),
        ("progress", "/runs/bench/annotate/progress"),
        ("reports", "/runs/first/report"),
        ("report", "/runs/first/export/report.html"),
    ):
        page.goto(f"{url}{path}")
        keep(page, name)
    keep(opened(browser, f"{url}/timeline", color_scheme="dark"), "growth-dark")
    keep(opened(browser, f"{url}{harmful}/evidence", color_scheme="dark"), "evidence-dark")
    phone = {"viewport": PHONE, "device_scale_factor": 2, "is_mobile": True}
    keep(opened(browser, f"{url}/runs/first", **phone), "library-phone")
    keep(opened(browser, f"{url}/runs/bench/annotate", **phone), "annotate-phone")


def watch(browser: Browser, url: str, folder: RunFolder) -> None:
    """A second run while it goes on, in a process of its own."""
    command = [sys.executable, "-m", "biasscope", "resume", str(folder.path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None and not folder.is_running():
            time.sleep(0.1)
        page = opened(browser, f"{url}/runs/live/watch")
        page.locator("section[aria-labelledby=h-newest] li").nth(5).wait_for(timeout=120_000)
        keep(page, "watch")
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """Make the runs, then the pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium on this machine (Debian: apt-get install chromium)")
    HERE.mkdir(exist_ok=True)
    world = load_world("easy")
    with tempfile.TemporaryDirectory() as name, WorldServer(world, process=True) as server:
        workspace = make_runs(Path(name), server.url, world)
        live = create(load_config(None, (), settings(Path(name), server.url, world, "live", seed=3)))
        with served(workspace) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            look(browser, url)
            watch(browser, url, live)
            browser.close()


if __name__ == "__main__":
    main()
