"""The archive on a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.strict_archive.archive import Archive, Reply
from tests.waiting import PATIENCE_S

PUBLIC = "/rms/api/public"


@contextmanager
def serve(archive: Archive) -> Iterator[str]:
    """Serves an archive until the block ends, and says under which address a client names it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 1 << 16

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

        def _answer(self) -> None:
            body = self._body()
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._send(archive.answer(self.command, self.path, headers, body))

        do_GET = do_POST = do_PUT = do_DELETE = _answer

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = []
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.status != 204:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 64

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that went away is no fault of the archive."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{PUBLIC}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_S)
