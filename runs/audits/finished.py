"""The result that a finished job has written into its folder."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ...core.errors import ConfigError
from ...core.mistakes import mistakes
from ..folder import RunFolder

T = TypeVar("T", bound=BaseModel)


def read_result(folder: RunFolder, name: str, kind: type[T]) -> T:
    """Read it; ConfigError when the job has not finished, or the file was changed."""
    path = folder.path / name
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError:
        raise ConfigError(f"{folder.run_id!r} has no {name} yet: `{folder.resume_command}` goes on with it") from None
    except ValidationError as error:
        raise ConfigError(f"{path}: {mistakes(error, 'the file')[0]}; resume the run to write it again") from None
