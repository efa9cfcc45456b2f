"""`python:module:function`: a Python callable as a scorer or a judge."""

import asyncio
import contextlib
import contextvars
import hashlib
import importlib
import inspect
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...core.calls import Completion, Request
from ...core.errors import CallFailed, ConfigError
from .plain import plain_completion, prompt_and_answers
from .reference import ModelSpec


class PythonCallable:
    """Called with (prompt, answer) for a score, or (prompt, answer_a, answer_b) for a verdict; sync ones in threads.

    The module is looked for in the working directory too. An exception is a failed call.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._function = _load(spec)
        self._source = _source_hash(self._function)

    @property
    def name(self) -> str:
        """The reference and a hash of the module's source: another version is another judge."""
        return f"{self._spec.model}{self._source}"

    async def complete(self, request: Request) -> Completion:
        """What it returns, as text. Raises CallFailed for an exception, a timeout, or a value that is no result."""
        prompt, answers = prompt_and_answers(request, self.name)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._spec.timeout):
                value = await self._call(prompt, *answers)
        except TimeoutError as error:
            if time.perf_counter() - started < self._spec.timeout:
                raise self._failed(error, request) from None
            reason = f"{self._spec.model}: no answer in {self._spec.timeout:g} s; raise timeout_s"
            raise CallFailed("timeout", reason, request_id=request.id) from None
        except (Exception, SystemExit) as error:  # a judge that exits has failed this call, and ends no audit
            raise self._failed(error, request) from None
        return plain_completion(value, request, seconds=time.perf_counter() - started, cost=0.0)

    async def aclose(self) -> None:
        """Nothing is held."""

    async def _call(self, *texts: str) -> Any:
        if inspect.iscoroutinefunction(self._function) or inspect.iscoroutinefunction(
            getattr(self._function, "__call__", None)  # noqa: B004 (an object whose call is async)
        ):
            return await self._function(*texts)
        value = await _in_thread(self._function, *texts)
        return await value if inspect.isawaitable(value) else value

    def _failed(self, error: BaseException, request: Request) -> CallFailed:
        said = " ".join(str(error).split())[:300]
        return CallFailed("bad_request", f"{self._spec.model}: {type(error).__name__}: {said}", request_id=request.id)


async def _in_thread(function: Callable[..., Any], *texts: str) -> Any:
    """What it returns, from a thread that nobody waits for: one that hangs must not keep the program from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def tell(setter: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            setter(outcome)

    def work() -> None:
        try:
            setter, outcome = future.set_result, function(*texts)
        except BaseException as error:
            told = RuntimeError(str(error)) if isinstance(error, StopIteration) else error
            setter, outcome = future.set_exception, told
        with contextlib.suppress(RuntimeError):  # the loop has ended without it
            loop.call_soon_threadsafe(tell, setter, outcome)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    return await future


def _load(spec: ModelSpec) -> Callable[..., Any]:
    module_name, colon, attribute = spec.target.partition(":")
    if not (module_name and colon and attribute):
        raise ConfigError(f"model {spec.model!r} names no function; write python:module:function")
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # whatever the user's module does when it is imported
        raise ConfigError(
            f"model {spec.model!r} cannot be imported: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        ) from None
    finally:
        if added:
            sys.path.remove(here)
    if not callable(found):
        raise ConfigError(f"model {spec.model!r}: {attribute!r} is no function; write python:module:function")
    return found  # type: ignore[no-any-return]


def _source_hash(function: Callable[..., Any]) -> str:
    try:
        file = inspect.getsourcefile(inspect.unwrap(function)) or ""
        return f"#{hashlib.sha256(Path(file).read_bytes()).hexdigest()[:8]}"
    except (TypeError, OSError):
        return ""
