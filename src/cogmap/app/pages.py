"""The page and its files, out of the installed package."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from cogmap.app.refusals import Refusal

# By address: folders of the package. The report's page and this one share their drawing code.
_FOLDERS = {"": ("cogmap.app", "static"), "shared/": ("cogmap.report", "shared")}
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".map": "application/json",
}


def page_files() -> dict[str, Path]:
    """Every file that is served, by its address below /static/; nothing else ever is."""
    found = {}
    for prefix, (package, folder) in _FOLDERS.items():
        root = Path(str(files(package))) / folder
        for path in sorted(root.rglob("*")) if root.is_dir() else ():
            if path.is_file() and path.suffix in _TYPES:
                found[prefix + path.relative_to(root).as_posix()] = path
    return found


class Pages:
    """Serves the files that there were at the start."""

    def __init__(self) -> None:
        self._files = page_files()

    async def index(self, request: Request) -> Response:
        return self._answer(request, "index.html")

    async def static(self, request: Request) -> Response:
        return self._answer(request, request.path_params["path"])

    def _answer(self, request: Request, name: str) -> Response:
        path = self._files.get(name)
        if path is None:
            raise Refusal(404, "there is no such address")
        try:
            content = path.read_bytes()
        except OSError:
            raise Refusal(404, "there is no such address") from None
        tag = f'"{hashlib.blake2b(content, digest_size=8).hexdigest()}"'
        headers = {"etag": tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=_TYPES[path.suffix])
