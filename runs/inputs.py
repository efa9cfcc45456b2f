"""What a run starts from: its preference pairs, split and stored, and its first library."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ..bias_library.events import Stamp, add, first_seq
from ..bias_library.exchange import adopt, read_file
from ..bias_library.library import append_now, load_library, read_bias, replay
from ..bias_library.seeds import is_order_bias, seed_biases
from ..core.errors import ConfigError
from ..core.ids import content_id
from ..core.records import Bias, PreferencePair
from ..core.store import Store
from ..data.sources import load
from ..validators.split import split_search_confirm
from .config import RunConfig


def load_pairs(store: Store, run_id: str, config: RunConfig) -> dict[str, str]:
    """Read, split and store the pairs once; returns the data hash of each set."""
    if (known := store.note(run_id, "data")) is not None:
        return {str(k): str(v) for k, v in known.items()}
    target = load(config.target)
    store.write_note(run_id, "data:target", target.report.model_dump(mode="json"))
    if config.test is None:
        halves = split_search_confirm(_domains(target.pairs), config.seed, 0.5)
        searched, tests = _chosen(target.pairs, halves.search), _chosen(target.pairs, halves.confirm)
    else:
        loaded = load(config.test)
        store.write_note(run_id, "data:test", loaded.report.model_dump(mode="json"))
        searched, tests = target.pairs, loaded.pairs
    split = split_search_confirm(_domains(tests), config.seed, config.validation.confirm_share)
    sets = {"target": searched, "search": _chosen(tests, split.search), "confirm": _chosen(tests, split.confirm)}
    for name, pairs in sets.items():
        if not pairs and name != "confirm":
            source = config.target if name == "target" or config.test is None else config.test
            raise ConfigError(
                f"no preference pairs for the {name} set in {source.source!r}; see `biasscope data inspect`"
            )
        store.write_pairs(run_id, name, pairs)
    hashes = {name: content_id("pairs", *(p.id for p in pairs)) for name, pairs in sets.items()}
    store.write_note(run_id, "data", hashes)
    return hashes


def file_hashes(config: RunConfig) -> dict[str, str]:
    """The user's features and log by the hash of their files, so that a resumed run has the same."""
    files = {"features": config.features, "judgments": Path(config.judgments.source) if config.judgments else None}
    hashes = {}
    for name, path in files.items():
        if path is None:
            continue
        try:
            hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()[:24]
        except OSError as error:
            raise ConfigError(f"{name}: {path}: cannot be read: {error.strerror}; give a file") from None
    return hashes


def start_library(store: Store, run_id: str, config: RunConfig, *, has_position: bool = True) -> list[str]:
    """The seeds and what the library file brings, as events; returns the ids that the loop injects.

    A judge without a position (`has_position`) is spared the seed that is about it.
    """
    given: list[Bias] = seed_biases() if config.discovery.seeds else []
    given = [bias for bias in given if has_position or not is_order_bias(bias.id)]
    if config.library:
        brought = adopt(read_file(config.library), Stamp(run_id, 0, "biasscope"), replay([]))
        known = {bias.id for bias in given}
        given += [
            bias for event in brought if (bias := read_bias(event.bias_id, event.payload["bias"])).id not in known
        ]
    if not given:
        raise ConfigError("the library to start from is empty: set discovery.seeds to true or give --library FILE")
    stamp, events = Stamp(run_id, first_seq("seed"), "biasscope", "start of the run"), []
    for bias in given:
        events.append(add(stamp, bias, "seed"))
        stamp = stamp.next()
    append_now(store, events)
    return [bias.id for bias in load_library(store, run_id, before=stamp.seq).biases()]


def _domains(pairs: Sequence[PreferencePair]) -> dict[str, str]:
    return {pair.id: pair.domain for pair in pairs}


def _chosen(pairs: Sequence[PreferencePair], ids: Sequence[str]) -> list[PreferencePair]:
    wanted = set(ids)
    return [pair for pair in pairs if pair.id in wanted]
