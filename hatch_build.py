"""The text of the package's page on an index: README without what only a checkout has.

An index shows no relative pictures and follows no relative links, and the address of a repository is not known to the
package. So pictures are left out, and links into the checkout become plain text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n?", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)[^)]*\)")


def index_text(readme: str) -> str:
    return _LINK.sub(r"\1", _PICTURE.sub("", readme))


class CustomMetadataHook(MetadataHookInterface):  # type: ignore[misc]
    def update(self, metadata: dict[str, Any]) -> None:
        text = index_text((Path(self.root) / "README.md").read_text(encoding="utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
