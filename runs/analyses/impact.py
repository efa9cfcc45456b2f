"""What the biases of a run could do to a ranking or at a threshold: from discovery runs, gates and transfers."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from ...audits.frozen import FrozenSet, read_frozen
from ...audits.impact import Arms, Impact, impact
from ...audits.replay import Replay, check_fits, read_replay
from ...bias_library.library import load_library
from ...core.errors import ConfigError
from ...core.records import Validation, bias_arm
from ...core.store import Store
from ...data.leaderboard import Leaderboard, read_leaderboard
from ..audits.gate import REPLAY, GateConfig
from ..audits.transfer import TransferConfig, replay_file
from ..config import load_config
from ..folder import RunFolder
from ..jobs import open_store
from .arms import read_arms, reference_arm

SEARCHED = (
    "The effects are from the pairs on which the biases were accepted, and so are too large for the judge that they "
    "were found on."
)


def impact_of(folder: RunFolder, results: Path | None, threshold: float | None, against: str | None) -> Impact:
    """`results`: a leaderboard's file; `threshold` in percent of wins; `against`: the model it is about.

    Raises ConfigError for what does not go together, DataError for a bad file.
    """
    if results is None and threshold is None:
        raise ConfigError("nothing to decide on: give --results FILE, --threshold PERCENT, or both")
    if threshold is not None and not 0 < threshold < 100:
        raise ConfigError(f"--threshold {threshold:g}: is no win rate in percent between 0 and 100")
    if against is not None and (results is None or threshold is None):
        raise ConfigError("--against is about decisions on the models of --results at --threshold: give both")
    board = read_leaderboard(results) if results else None
    if board and against is not None and against not in board.models:
        raise ConfigError(f"--against {against!r}: is none of the models of {results}: {_some(board)}")
    judges, notes = _judges(folder)
    return impact(folder.run_id, judges, board, threshold=threshold, against=against, notes=notes)


def _judges(folder: RunFolder) -> tuple[list[tuple[str, list[Arms]]], list[str]]:
    if folder.kind == "discover":
        with closing(open_store(folder)) as store:
            return _discovered(store, folder.run_id)
    if folder.kind not in ("gate", "transfer"):
        raise ConfigError(
            f"{folder.run_id!r} is of the kind {folder.kind!r}; the effect of biases is in runs of the kinds discover, "
            "gate and transfer"
        )
    if folder.kind == "gate":
        library, names = load_config(folder.config, kind=GateConfig).library, [REPLAY]
    else:
        config = load_config(folder.config, kind=TransferConfig)
        library, names = config.library, [replay_file(k) for k in range(len(config.judges))]
    if not all((folder.path / name).is_file() for name in names):
        raise ConfigError(f"{folder.run_id!r} has not ended: `{folder.resume_command}` goes on with it")
    frozen = read_frozen(library)
    judges = []
    for name in names:
        replayed = read_replay(folder.path / name)
        check_fits(replayed, frozen, folder.path / name)
        judges.append((replayed.judge, list(_replayed(frozen, replayed))))
    own = frozen.head.part != "confirm" and any(judge == frozen.head.judge for judge, _ in judges)
    return judges, [SEARCHED] if own else []


def _replayed(frozen: FrozenSet, replayed: Replay) -> Iterator[Arms]:
    for bias in frozen.head.biases:
        yield Arms(bias.id, bias.name, replayed.outcomes(frozen.reference_arm), replayed.outcomes(bias_arm(bias.id)))


def _discovered(store: Store, run_id: str) -> tuple[list[tuple[str, list[Arms]]], list[str]]:
    validations = store.select(Validation, run_id=run_id)
    entries = [e for e in load_library(store, run_id) if e.status in ("valid", "confirmed")]
    if not entries:
        raise ConfigError(f"no bias of the run {run_id!r} is valid, so none can flip a decision")
    reference = reference_arm(validations)
    arms = read_arms(store, run_id, [reference, *(bias_arm(e.bias.id) for e in entries)])
    pair_ids: Sequence[str] = sorted(arms.confirm) or list(arms.pairs)
    found = [
        Arms(e.bias.id, e.bias.name, arms.vector(reference, pair_ids), arms.vector(bias_arm(e.bias.id), pair_ids))
        for e in entries
    ]
    judge = next((v.judge for v in validations), "")
    return [(judge, found)], [] if arms.confirm else [SEARCHED]


def _some(board: Leaderboard) -> str:
    return ", ".join(map(repr, board.models[:20])) + (" ..." if len(board.models) > 20 else "")
