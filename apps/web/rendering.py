"""Pages from templates, and the files of ours that they use."""

import functools
import hashlib
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import Request
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...runs.report.render import environment, style_sheet
from .guard import csrf_token, reviewer_of

_TEMPLATES = Path(__file__).parent / "templates"
_STATIC = {
    "app.css": "text/css",
    "app.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "hx-sse.min.js": "text/javascript",
    "icon.svg": "image/svg+xml",
    "HTMX-LICENSE.txt": "text/plain",
}


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A whole page; all text that is not ours is escaped by the templates' environment."""
    token = Markup('<input type="hidden" name="csrf" value="{}">').format(csrf_token(request))
    html = fragment(
        template,
        me=reviewer_of(request),
        csrf_field=token,
        path=request.url.path,
        said=request.session.pop("said", None),
        asset=asset_address,
        **values,
    )
    return HTMLResponse(html, status_code=status)


def fragment(template: str, **values: Any) -> str:
    """A template as text."""
    return environment(_TEMPLATES, escape=True).get_template(template).render(**values)


def back_to(request: Request, address: str, said: str = "") -> Response:
    """Lead to a page, which says `said` once."""
    if said:
        request.session["said"] = said[:600]
    return RedirectResponse(address, status_code=303)


@functools.cache
def assets() -> dict[str, tuple[bytes, str]]:
    """Content and type of our files by name; only these names exist."""
    folder = resources.files(__package__).joinpath("static")
    found = {name: (folder.joinpath(name).read_bytes(), kind) for name, kind in _STATIC.items()}
    styles = style_sheet().encode() + b"\n" + found["app.css"][0]
    return found | {"app.css": (styles, "text/css")}


@functools.cache
def asset_address(name: str) -> str:
    """The address of a file, which changes with its content."""
    return f"/static/{name}?v={hashlib.sha256(assets()[name][0]).hexdigest()[:12]}"
