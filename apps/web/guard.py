"""What stands between a request and a page: headers, host check, login, roles, and forms that only we can have made."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Annotated, Any
from urllib.parse import parse_qs, quote, urlsplit

from fastapi import Depends, Request
from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...core.errors import BiasScopeError
from . import people
from .people import Reviewer, Right
from .setting import setting_of

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing runs or loads that is not a file of ours: a model's text could not become a script even if it were markup."""
FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
"""For reports and plots, which bring their own style and no script."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MOST_FIELDS = 400


class LoginNeeded(Exception):
    """Nobody is logged in."""


class Refused(BiasScopeError):
    """The reviewer's role, or the form, does not allow this."""


class Envelope:
    """Headers on every answer, and the refusal of foreign host names.

    Without logins a web page of somebody else could point a name of its own at this machine and read the app through
    it (DNS rebinding), so that only the loopback's own names are answered.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] | None) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        if self.hosts is not None and _host_name(host) not in self.hosts:
            refusal = PlainTextResponse("this app answers to the loopback's names only\n", status_code=421)
            await refusal(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)


def reviewer_of(request: Request) -> Reviewer | None:
    """Who is logged in, if anyone; without reviewers, the person who started the app."""
    setting = setting_of(request)
    known = people.load(setting.reviewers)
    if not known and setting.alone:
        return setting.alone
    reviewer = known.get(str(request.session.get("name", "")))
    return reviewer if reviewer and request.session.get("mark") == _mark(reviewer) else None


def log_in(request: Request, reviewer: Reviewer) -> None:
    """Begin a session. A new token for the reviewer, or another role, ends it."""
    request.session.clear()
    request.session.update(name=reviewer.name, mark=_mark(reviewer), csrf=secrets.token_urlsafe(24))


def may(right: Right) -> Callable[[Request], Reviewer]:
    """A dependency: the reviewer, who must have this right."""

    def check(request: Request) -> Reviewer:
        reviewer = reviewer_of(request)
        if reviewer is None:
            raise LoginNeeded
        if not reviewer.may(right):
            raise Refused(f"{reviewer.name} is {_article(reviewer.role)} here and may not do this")
        return reviewer

    return check


See = Annotated[Reviewer, Depends(may("see"))]
Decide = Annotated[Reviewer, Depends(may("decide"))]
Annotate = Annotated[Reviewer, Depends(may("annotate"))]


def csrf_token(request: Request) -> str:
    """The session's number that every form of ours carries."""
    return str(request.session.setdefault("csrf", secrets.token_urlsafe(24)))


class Form(dict[str, list[str]]):
    """The fields of a posted form."""

    def one(self, name: str) -> str:
        """A field's value without white space around it; empty when it is missing."""
        return (self.get(name) or [""])[-1].strip()


async def posted(request: Request) -> Form:
    """The form of a request that one of our pages has made; Refused for any other."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise Refused("this form came from another site")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Refused("this form came from another site")
    body = (await request.body()).decode("utf-8", "replace")
    try:
        form = Form(parse_qs(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise Refused(f"a form has at most {_MOST_FIELDS} fields") from None
    expected = str(request.session.get("csrf", ""))
    if not expected or not secrets.compare_digest(form.one("csrf").encode(), expected.encode()):
        raise Refused("this form is too old; go back, load the page again and repeat what you did")
    return form


Posted = Annotated[Form, Depends(posted)]


def local_path(target: str) -> str:
    """`target` when it is a path of this app, else the front page."""
    parts = urlsplit(target)
    plain = target.startswith("/") and not target.startswith(("//", "/\\")) and "\\" not in target
    return target if plain and not parts.netloc and not parts.scheme else "/"


def login_address(request: Request) -> str:
    """The login page that leads back to where the request went."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return "/login" if request.method != "GET" or wanted == "/" else f"/login?next={quote(wanted)}"


def _mark(reviewer: Reviewer) -> str:
    return f"{reviewer.role}:{reviewer.token_sha256[:24]}"


def _host_name(host: str) -> str:
    """Without the port."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0].lower()


def _article(role: str) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"


Handler = Callable[[Request, Any], Awaitable[Any]]
