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
    data = {
        path
        for path in ROOT.rglob("*")
        if path.suffix in {".j2", ".yaml", ".jsonl"}
        and (top := path.relative_to(ROOT).parts[0])[0] != "."
        and top not in NOT_PACKAGES
        and path.is_file()
    }
    assert data - found == set()
