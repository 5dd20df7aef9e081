"""HTTP for the local page: this machine, one secret in the path, reading only (ADR 0027).

Every request is refused before anything is read unless it names this server in its one Host
header (a name that an attacker points here is another name) and the token in its path.
"""

import secrets
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl, urlsplit

from syn.errors import CannotError, UsageError
from syn.report.pages import policy
from syn.services.doors.site import Page, Query

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
MAX_CONNECTIONS = 32
"""Connections at once; further ones are closed."""
TIMEOUT = 10.0
"""Seconds that a client may take to say what it wants."""
_MAX_FIELDS = 20
_MAX_QUERY = 8192


class NotLoopbackError(UsageError):
    """An address that other machines can reach."""

    def __init__(self, host: str) -> None:
        super().__init__(
            "not-loopback",
            f"{host!r:.60} is not this machine alone",
            f"one of {', '.join(LOOPBACK)}; over a network, use ssh -L",
        )


class LocalServer(ThreadingHTTPServer):
    """Serves one site on a loopback address until it is closed."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, get: Callable[[str, Query], Page], host: str, port: int) -> None:
        """Listen, with a new token.

        Args:
            get: gives the page for a path below the token and a query.
            host: a loopback address.
            port: 0 lets the system choose.

        Raises:
            NotLoopbackError: it is no loopback address.
            CannotError: the port cannot be had.
        """
        if host not in LOOPBACK:
            raise NotLoopbackError(host)
        self.get = get
        self.token = secrets.token_urlsafe(32)
        self.address_family = socket.AF_INET6 if host == "::1" else socket.AF_INET
        self._room = threading.BoundedSemaphore(MAX_CONNECTIONS)
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise CannotError(
                "cannot-listen",
                f"{host}:{port}: {(error.strerror or str(error)).lower()}",
                "choose another --port, or none",
            ) from error
        shown = f"[{host}]" if ":" in host else host
        self.port: int = self.server_address[1]
        self.url = f"http://{shown}:{self.port}/{self.token}/"
        names = ("127.0.0.1", "localhost", "[::1]")
        self.hosts = frozenset(f"{name}:{self.port}" for name in names)

    def server_bind(self) -> None:  # type: ignore[explicit-override]
        """Bind without asking a name service who we are, which the standard server does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:  # type: ignore[explicit-override]
        """Answer in a thread of its own, while there is room for one."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # type: ignore[explicit-override]
        """One connection; a client that leaves is no event."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # type: ignore[explicit-override]
        """A connection that breaks says nothing: its text is the client's."""


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    timeout: ClassVar[float | None] = TIMEOUT
    server_version = "syn"
    sys_version = ""

    @property
    def _local(self) -> LocalServer:
        assert isinstance(self.server, LocalServer)  # noqa: S101 - it is what made us
        return self.server

    def do_GET(self) -> None:
        """A page."""
        self._answer(send_body=True)

    def do_HEAD(self) -> None:
        """The head of a page."""
        self._answer(send_body=False)

    def _answer(self, *, send_body: bool) -> None:
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0].strip().lower() not in self._local.hosts:
            self._plain(HTTPStatus.MISDIRECTED_REQUEST)
            return
        page = self._below_token()
        if page is None:
            self._plain(HTTPStatus.NOT_FOUND)
            return
        query = _query(urlsplit(self.path).query)
        if query is None:
            self._plain(HTTPStatus.BAD_REQUEST)
            return
        found = self._local.get(page, query)
        self._send(found.status, "text/html; charset=utf-8", found.html.encode(), send_body)

    def _below_token(self) -> str | None:
        """The path below the token; None when that is not there."""
        path = self.path.partition("?")[0]
        start, token, *rest = path.split("/", 2) if path.startswith("/") else ("", "")
        same = secrets.compare_digest(
            token.encode("utf-8", "replace"), self._local.token.encode("utf-8")
        )
        return rest[0] if same and not start and rest else None

    def _plain(self, status: HTTPStatus, *, allow: bool = False) -> None:
        """A refusal that says nothing of what is here."""
        body = f"{status.phrase}\n".encode()
        self._send(status, "text/plain; charset=utf-8", body, self.command != "HEAD", allow=allow)

    def _send(
        self, status: HTTPStatus, kind: str, body: bytes, send_body: bool, *, allow: bool = False
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS:
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", policy())
        if allow:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        if send_body:
            self.wfile.write(body)

    def send_error(  # type: ignore[explicit-override]
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """A request that is no HTTP, or with another method; nothing of it is repeated."""
        self.command = self.command or "GET"
        if code == HTTPStatus.NOT_IMPLEMENTED:
            self._plain(HTTPStatus.METHOD_NOT_ALLOWED, allow=True)
        else:
            self._plain(HTTPStatus(code))

    def log_message(self, format: str, *args: Any) -> None:  # type: ignore[explicit-override]  # noqa: A002
        """Requests hold the token, so nothing is logged."""


_HEADERS: Final = (
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


def _query(text: str) -> Query | None:
    """The fields of a query, the last of each name; None when it is too long or no UTF-8."""
    if len(text) > _MAX_QUERY:
        return None
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
    except (ValueError, UnicodeDecodeError):
        return None
    return dict(pairs)
