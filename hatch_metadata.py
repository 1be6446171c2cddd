"""Metadata that depend on where the project is published: its URLs, and the links of README.

A package index shows README without the repository, so relative links would lead nowhere. If ``url`` is set
in ``[tool.hatch.metadata.hooks.custom]``, they become links into the repository.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)]+)\)")


def absolute_links(text: str, url: str) -> str:
    """Return Markdown in which relative links and pictures point into the repository at `url`."""

    def replace(link: re.Match[str]) -> str:
        mark, shown, path = link.groups()
        return f"{mark}[{shown}]({url}/{'raw' if mark else 'blob'}/main/{path})"

    return _LINK.sub(replace, text) if url else text


class PublishedMetadata(MetadataHookInterface):
    """Adds README and the URLs of the project."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the fields ``readme`` and ``urls``."""
        url = self.config.get("url", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute_links(text, url)}
        if url:
            metadata["urls"] = {
                "Source": url,
                "Documentation": f"{url}/blob/main/docs/index.rst",
                "Changelog": f"{url}/blob/main/CHANGELOG.md",
                "Issues": f"{url}/issues",
            }
