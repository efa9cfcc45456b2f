"""Which biases a data set is made with: those of a run, of a library file, or of a list that comes with the package."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ..bias_library.exchange import read_file
from ..bias_library.features import feature_bias, load_features
from ..bias_library.library import Library, load_library
from ..bias_library.seeds import is_order_bias, seed_biases
from ..bias_library.taxonomy import taxonomy
from ..core.errors import ConfigError
from ..core.ids import content_id
from ..core.records import Bias
from ..core.store import Store
from .folder import find_run
from .jobs import open_store

PACKAGED: dict[str, Callable[[], list[Bias]]] = {
    "seeds": lambda: [bias for bias in seed_biases() if not is_order_bias(bias.id)],
    "features": lambda: [feature_bias(feature) for feature in load_features().values()],
    "taxonomy": lambda: [entry.bias for entry in taxonomy() if entry.how == "rewrite"],
}
"""Biases that can be written into an answer: those about the order of the answers are left out."""


def chosen_biases(library: str, wanted: Sequence[str], workspace: Path) -> list[Bias]:
    """The biases of `library`: a run (name or folder), a library file (.json), `seeds`, `features` or `taxonomy`.

    Of a run and of a full file those that were validated; `wanted` names others too, by name, id or start of an id.
    Raises ConfigError when there is none, or one that is named is not there.
    """
    usable, known = _of(library, workspace)
    if not wanted:
        if not usable:
            raise ConfigError(
                f"library: {library!r} has no validated bias; name those to use with `biases`, or another library"
            )
        return usable
    found = [_find(key, known, library) for key in wanted]
    return list({bias.id: bias for bias in found}.values())


def settled_biases(store: Store, run_id: str, library: str, wanted: Sequence[str], workspace: Path) -> list[Bias]:
    """`chosen_biases` as they were when the job began: the library may have changed since."""
    if (known := store.note(run_id, "biases")) is not None:
        return store.get_many(Bias, known)
    biases = chosen_biases(library, wanted, workspace)
    store.write_now(*biases)
    store.write_note(run_id, "biases", [bias.id for bias in biases])
    return store.get_many(Bias, [bias.id for bias in biases])


def biases_hash(biases: Sequence[Bias]) -> str:
    """For the manifest."""
    return content_id("biases", sorted(bias.id for bias in biases))


def _of(library: str, workspace: Path) -> tuple[list[Bias], list[Bias]]:
    """Those that are taken without being named, and all."""
    if library in PACKAGED:
        biases = PACKAGED[library]()
        return biases, biases
    path = Path(library)
    if path.suffix == ".json":
        imported = read_file(path)
        if not imported.events:
            return list(imported.biases), list(imported.biases)
        return _validated(imported.library)
    folder = find_run(library, workspace)
    store = open_store(folder)
    try:
        return _validated(load_library(store, folder.run_id))
    finally:
        store.close()


def _validated(library: Library) -> tuple[list[Bias], list[Bias]]:
    return library.biases("valid", "confirmed"), [entry.bias for entry in library if entry.merged_into is None]


def _find(key: str, known: Sequence[Bias], library: str) -> Bias:
    wanted = key.strip().casefold()
    same = [b for b in known if wanted in (b.id, b.name.casefold())] or [b for b in known if b.id.startswith(wanted)]
    if len(same) == 1 and wanted:
        return same[0]
    names = ", ".join(sorted(b.name for b in known)[:12]) or "none"
    if same and wanted:
        raise ConfigError(f"biases: {key!r} fits {len(same)} biases of {library!r}; give the id of one")
    raise ConfigError(f"biases: no {key!r} in {library!r}; there are {names}{' ...' if len(known) > 12 else ''}")
