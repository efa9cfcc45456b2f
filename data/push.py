"""A finished data set's way to the hub."""

from pathlib import Path

from ..core.errors import BrokenMachine, ConfigError
from ..core.visible import one_line


def push_folder(folder: Path, repository: str, *, private: bool) -> str:
    """Upload a folder with a card (README.md) to the hub as a data set; returns its address.

    The token is the one that `huggingface_hub` finds (HF_TOKEN, or a login); HF_ENDPOINT names another hub. Raises
    ConfigError for a folder or name that is none, BrokenMachine when the hub refuses or cannot be reached.
    """
    import httpx2
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    if not (folder / "README.md").is_file():
        raise ConfigError(f"{folder}: holds no finished data set: there is no README.md in it")
    try:
        api = HfApi()
        url = api.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
        api.upload_folder(
            folder_path=folder, repo_id=url.repo_id, repo_type="dataset", commit_message="Made by BiasScope"
        )
        return str(url)
    except HFValidationError as error:
        raise ConfigError(f"{repository!r} cannot name a data set on the hub: {one_line(str(error))}") from None
    except HfHubHTTPError as error:
        raise BrokenMachine(
            f"the hub refused {repository!r}: {one_line(str(error))}; the files are in {folder}: push again when that "
            "is mended"
        ) from None
    except (httpx2.HTTPError, OSError) as error:
        raise BrokenMachine(f"the hub cannot be reached: {one_line(str(error))}; the files are in {folder}") from None
