"""Checkpoints on a Hugging Face hub: explicit pushes and pulls of safetensors and JSON only."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, HFValidationError

from nashmon.nets.checkpoint import CheckpointError, load

DEFAULT_ENDPOINT = "https://huggingface.co"
TOKEN_VARIABLE = "HF_TOKEN"
_FILES = ["*.safetensors", "*.json"]
# Its bases are OSError and the error of whichever HTTP client the hub package is built on.
_FAILURES: tuple[type[BaseException], ...] = (*HfHubHTTPError.__bases__, HFValidationError)


class HubError(CheckpointError):
    """The hub refused or could not be reached."""


def _api(endpoint: str) -> HfApi:
    # False, not None: without a token in the environment no stored login is used either.
    return HfApi(endpoint=endpoint, token=os.environ.get(TOKEN_VARIABLE) or False)


def push(path: Path, repo: str, endpoint: str = DEFAULT_ENDPOINT, private: bool = True) -> str:
    """Upload a checkpoint that reads back intact; returns the address of the commit."""
    load(path)
    api = _api(endpoint)
    try:
        api.create_repo(repo, private=private, exist_ok=True)
        commit = api.upload_folder(
            repo_id=repo,
            folder_path=path,
            allow_patterns=_FILES,
            delete_patterns=_FILES,  # parts an earlier push had and this one has not
            commit_message=f"Checkpoint {path.name}",
        )
    except _FAILURES as error:
        raise HubError(f"could not push {path} to {repo} at {endpoint}: {error}") from error
    return commit.commit_url


def pull(
    repo: str, path: Path, endpoint: str = DEFAULT_ENDPOINT, revision: str | None = None
) -> None:
    """Download a checkpoint to a new directory; it appears there only after it read back intact."""
    if path.exists():
        raise HubError(f"{path} exists already; pull to a new directory")
    fresh = path.parent / f".{path.name}.pull"
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        _api(endpoint).snapshot_download(
            repo, revision=revision, local_dir=fresh, allow_patterns=_FILES
        )
        shutil.rmtree(fresh / ".cache", ignore_errors=True)  # the client's bookkeeping
        load(fresh)
        fresh.rename(path)
    except _FAILURES as error:
        raise HubError(f"could not pull {repo} from {endpoint}: {error}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
