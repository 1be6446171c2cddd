"""What PyInstaller needs to know: it finds this folder by an entry point of the distribution."""

from pathlib import Path


def hook_folders() -> list[str]:
    """Return the folders of hooks."""
    return [str(Path(__file__).parent)]
