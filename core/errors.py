"""Every error of ours.

    BiasScopeError
    ├── UserError           the input is wrong; one line, no traceback, exit code 2
    │   ├── ConfigError     a setting or a reference
    │   ├── DataError       a data set
    │   └── LibraryError    a bias that is not there, a merge that cannot be
    ├── BrokenMachine       the run cannot go on but can be resumed; one line, exit code 3
    │   ├── EndpointError   bad key, unknown model, dead endpoint
    │   └── StoreError      full disk, locked or newer database
    ├── BudgetReached       the budget is spent; what is there stays, exit code 4
    └── CallFailed          one call gave no usable answer; becomes a Failure row, never stops a run

A message names the place, the value (`!r`) and the next step, in one line.
"""

from typing import Literal

FailureKind = Literal[
    "timeout",  # no answer in time, after retries
    "connection",  # connection broken, after retries
    "server",  # 5xx or 429, after retries
    "bad_request",  # 4xx for this request alone
    "too_long",  # the request does not fit the context window
    "empty",  # no content
    "truncated",  # finish_reason length
    "refused",  # the model declined
    "malformed",  # structured output that does not parse or does not fit its schema
    "unparsable",  # a judge's text without a readable verdict, after one reminder
    "unchanged",  # a rewrite that is the same as its source
    "not_a_rewrite",  # a text that has lost most of its source
    "no_recipe",  # no feature of the lexicon writes the bias; an LLM teacher may
    "answer_changed",  # a rewrite whose final answer is another one
]

TRANSIENT: frozenset[FailureKind] = frozenset({"timeout", "connection", "server"})
"""Kinds that may go away by themselves: asked again when a run is resumed."""


class BiasScopeError(Exception):
    """The root of the tree."""

    exit_code = 1


class UserError(BiasScopeError):
    """Something the user gave is wrong."""

    exit_code = 2


class ConfigError(UserError):
    """A setting or a model reference is wrong."""


class DataError(UserError):
    """A data set cannot be read as preference pairs."""


class LibraryError(UserError):
    """The library cannot do what was asked."""


class BrokenMachine(BiasScopeError):
    """Nothing more can be done until somebody mends something; the run can be resumed."""

    exit_code = 3


class EndpointError(BrokenMachine):
    """A model cannot be reached at all."""


class StoreError(BrokenMachine):
    """The database cannot be read or written."""


class BudgetReached(BiasScopeError):
    """The budget in calls, tokens or money is spent."""

    exit_code = 4


class CallFailed(BiasScopeError):
    """One request has no usable answer. `kind` says why, `raw` holds what came back (may be empty)."""

    def __init__(self, kind: FailureKind, reason: str, raw: str = "", request_id: str | None = None) -> None:
        super().__init__(reason)
        self.kind: FailureKind = kind
        self.reason = reason
        self.raw = raw
        self.request_id = request_id
