"""A small hub on the loopback interface: the parts of the protocol that push and pull use."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

TOKEN = "secret-token"


class Hub:
    def __init__(self) -> None:
        self.repos: dict[str, dict[str, bytes]] = {}
        self.requests: list[str] = []
        self.endpoint = ""

    def sha(self, repo: str) -> str:
        digest = hashlib.sha1()
        for path, content in sorted(self.repos[repo].items()):
            digest.update(path.encode() + content)
        return digest.hexdigest()


def etag(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


class Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def answer(
        self, value: object, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def route(self) -> list[str]:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append(f"{self.command} {path}")
        return path.strip("/").split("/")

    def allowed(self) -> bool:
        if self.headers.get("Authorization") == f"Bearer {TOKEN}":
            return True
        self.answer({"error": "log in first"}, 401)
        return False

    def do_POST(self) -> None:
        body, parts = self.body(), self.route()
        if not self.allowed():
            return
        if parts == ["api", "repos", "create"]:
            data = json.loads(body)
            repo = f"{data['organization']}/{data['name']}"
            self.hub.repos.setdefault(repo, {})
            self.answer({"url": f"{self.hub.endpoint}/{repo}", "id": repo})
            return
        repo, verb = "/".join(parts[2:4]), parts[4]
        if verb == "preupload":
            files = json.loads(body)["files"]
            modes = [
                {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in files
            ]
            self.answer({"files": modes})
        elif verb == "commit":
            self.commit(repo, body)
        else:
            self.answer({"error": f"no {verb}"}, 404)

    def commit(self, repo: str, body: bytes) -> None:
        for line in body.splitlines():
            entry = json.loads(line)
            if entry["key"] == "file":
                content = base64.b64decode(entry["value"]["content"])
                self.hub.repos[repo][entry["value"]["path"]] = content
            elif entry["key"] == "deletedFile":
                del self.hub.repos[repo][entry["value"]["path"]]
        sha = self.hub.sha(repo)
        self.answer({"commitUrl": f"{self.hub.endpoint}/{repo}/commit/{sha}", "commitOid": sha})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        parts = self.route()
        repo = "/".join(parts[2:4] if parts[0] == "api" else parts[:2])
        if not self.allowed():
            return
        if repo not in self.hub.repos:
            self.answer({"error": "no such repo"}, 404, {"X-Error-Code": "RepoNotFound"})
            return
        files, sha = self.hub.repos[repo], self.hub.sha(repo)
        if parts[0] != "api":
            content = files["/".join(parts[4:])]
            self.answer(content, headers={"ETag": f'"{etag(content)}"', "X-Repo-Commit": sha})
        elif "tree" in parts:
            self.answer(
                [
                    {"type": "file", "path": name, "size": len(data), "oid": etag(data)}
                    for name, data in files.items()
                ]
            )
        else:
            siblings = [{"rfilename": name} for name in files]
            self.answer({"id": repo, "sha": sha, "siblings": siblings, "private": True})


@contextmanager
def running_hub() -> Iterator[Hub]:
    hub = Hub()
    handler = type("BoundHandler", (Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
