"""``/health`` and ``/metrics`` of a worker, from a thread of its own: it answers when the event loop does not."""

import json
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from schemas.errors import Misconfigured
from streams.health import Health

Start = Callable[[str, list[tuple[str, str]]], Any]


class _Quiet(WSGIRequestHandler):
    timeout = 10

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class' name
        """Requests for health every few seconds are no news."""


class _Server(WSGIServer):
    allow_reuse_address = False  # two workers with one fixed port must be told, not share it by chance


class Endpoint:
    """Serves health and metrics until it is closed."""

    def __init__(self, host: str, port: int, health: Health, registry: CollectorRegistry) -> None:
        """Listen.

        Args:
            host: Address.
            port: Port; 0 is any free one.
            health: What to tell.
            registry: The metrics.

        Raises:
            Misconfigured: The port is taken.
        """
        self._health = health
        self._registry = registry
        try:
            self._server = make_server(host, port, self._answer, server_class=_Server, handler_class=_Quiet)
        except OSError as error:
            raise Misconfigured(
                f"MEMLAKE_WEB_HOST, MEMLAKE_WEB_PORT: {host}:{port} cannot be opened ({error.strerror}): take another, "
                "or port 0 for any"
            ) from error
        self.url = f"http://{host}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="endpoint", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _answer(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        path = environ.get("PATH_INFO")
        if path == "/metrics":
            start("200 OK", [("Content-Type", CONTENT_TYPE_LATEST)])
            return [generate_latest(self._registry)]
        if path == "/health":
            told = self._health.told(time.monotonic())
            start(
                "200 OK" if told["status"] == "ready" else "503 Service Unavailable",
                [("Content-Type", "application/json")],
            )
            return [json.dumps(told).encode()]
        start("404 Not Found", [("Content-Type", "text/plain")])
        return [b"/health or /metrics\n"]
