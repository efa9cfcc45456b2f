"""Coming in with a token, and leaving."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from .. import people
from ..guard import Posted, local_path, log_in, reviewer_of
from ..rendering import back_to, page
from ..setting import setting_of

router = APIRouter()


@router.get("/login")
def form(request: Request, next: str = "/") -> Response:
    """Ask for the token."""
    if reviewer_of(request):
        return back_to(request, local_path(next))
    return page(request, "login.html.j2", wanted=local_path(next), problem="")


@router.post("/login")
def come_in(request: Request, form: Posted) -> Response:
    """Begin a session for whoever owns the token."""
    wanted = local_path(form.one("next"))
    reviewer = people.by_token(people.load(setting_of(request).reviewers), form.one("token"))
    if reviewer is None:
        return page(request, "login.html.j2", status=403, wanted=wanted, problem="Nobody here has this token.")
    log_in(request, reviewer)
    return back_to(request, wanted if reviewer.may("see") else "/annotate")


@router.post("/logout")
def leave(request: Request, form: Posted) -> Response:
    """End the session."""
    request.session.clear()
    return back_to(request, "/login")
