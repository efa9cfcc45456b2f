"""What the app was started with, at hand in every request."""

from dataclasses import dataclass
from pathlib import Path

from fastapi import Request

from .meaning import Meaning
from .people import Reviewer
from .site import Site


@dataclass(frozen=True)
class Setting:
    """The runs that are shown, and who may come in."""

    site: Site
    reviewers: Path
    """The file of reviewers. As long as it is there, everybody has to log in."""
    alone: Reviewer | None
    """Who acts when there are no reviewers; None where a login is needed at any rate."""
    secure: bool = False
    """Whether the app is served over TLS."""


def setting_of(request: Request) -> Setting:
    """The setting of the app that answers."""
    setting: Setting = request.app.state.setting
    return setting


def meaning_of(request: Request) -> Meaning:
    """The embedders of the app that answers."""
    meaning: Meaning = request.app.state.meaning
    return meaning
