"""The app: its pages, what stands before them, and what is said when something is wrong."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from ...core.errors import BiasScopeError, BrokenMachine
from .guard import LOOPBACK, Envelope, LoginNeeded, Refused, login_address
from .meaning import Meaning
from .pages import annotating, biases, growth, libraries, login, reports, watching
from .rendering import assets, page
from .setting import Setting
from .site import NotHere

_DAY = 24 * 3600
_LARGEST_FORM = 256 * 1024


def create_app(setting: Setting, hosts: tuple[str, ...] | None = LOOPBACK, secret: str | None = None) -> FastAPI:
    """The app for `setting`. `hosts` are the names it answers to (None: any, where everybody has to log in);
    `secret` signs sessions, which end with the process when there is none."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.meaning = Meaning()
        yield
        await app.state.meaning.aclose()
        setting.site.close()

    session = Middleware(
        SessionMiddleware,
        secret_key=secret or secrets.token_urlsafe(32),
        session_cookie="biasscope",
        max_age=_DAY,
        same_site="lax",
        https_only=setting.secure,
    )
    app = FastAPI(
        title="BiasScope review",
        openapi_url=None,
        lifespan=life,
        middleware=[Middleware(Envelope, hosts=hosts), session],
        max_body_size=_LARGEST_FORM,
    )
    app.state.setting = setting
    app.add_exception_handler(LoginNeeded, _to_login)
    for kind in (BiasScopeError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _problem)
    app.add_api_route("/static/{name}", _static, methods=["GET"])
    for part in (login, libraries, biases, growth, watching, reports, annotating):
        app.include_router(part.router)
    return app


def _static(name: str) -> Response:
    """A file of ours; names are looked up, never made into paths."""
    found = assets().get(name)
    if found is None:
        raise NotHere("there is no such file")
    content, kind = found
    return Response(content, media_type=kind, headers={"cache-control": "public, max-age=31536000, immutable"})


async def _to_login(request: Request, _: Exception) -> Response:
    if "hx-request" in request.headers:
        return Response(status_code=200, headers={"hx-redirect": "/login"})
    return RedirectResponse(login_address(request), status_code=303)


async def _problem(request: Request, error: Exception) -> Response:
    """One line for whoever looks, in the place of the page."""
    status, said = _said(error)
    try:
        answer = page(request, "problem.html.j2", status=status, wrong=said)
    except BiasScopeError as worse:  # the file of reviewers cannot be read
        return PlainTextResponse(f"{worse}\n", status_code=503)
    if "hx-request" in request.headers:
        answer.headers["hx-retarget"], answer.headers["hx-reselect"] = "#problem", "#problem"
        answer.headers["hx-reswap"] = "outerHTML"
    return answer


def _said(error: Any) -> tuple[int, str]:
    match error:
        case NotHere():
            return 404, str(error)
        case Refused():
            return 403, str(error)
        case BrokenMachine():
            return 503, str(error)
        case BiasScopeError():
            return 409, str(error)
        case RequestValidationError():
            return 404, "there is no such page"
        case HTTPException():
            return error.status_code, "there is no such page" if error.status_code == 404 else str(error.detail)
    return 500, "something went wrong in the app itself; its terminal says more"
