"""The wheel holds every folder, and types and imports are what the house rules say."""

import tomllib
from pathlib import Path

import biasscope

ROOT = Path(biasscope.__file__).parent
NOT_PACKAGES = {"tests", "benchmarks", "docs", "build"}


def folders():
    for path in sorted(ROOT.rglob("__init__.py")):
        parts = path.parent.relative_to(ROOT).parts
        if parts and not parts[0].startswith(".") and parts[0] not in NOT_PACKAGES:
            yield ".".join(("biasscope", *parts))


def test_every_package_is_listed():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted({"biasscope", *folders()})


def test_every_data_file_is_shipped():
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    found = {
        path
        for package, patterns in shipped.items()
        for pattern in patterns
        for path in (ROOT / package.removeprefix("biasscope").strip(".").replace(".", "/")).glob(pattern)
    }
    # Only the package's own folders: a run of the quickstart leaves its workspace beside them.
    tops = {name.split(".")[1] for name in folders()}
    data = {p for top in tops for p in (ROOT / top).rglob("*") if p.suffix in {".j2", ".yaml", ".jsonl"}}
    assert data - found == set()
