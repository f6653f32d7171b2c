"""A web site on the loopback address, for the tests of web_read."""

import gzip
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from patience import join


class Site:
    """Pages by path: (status, headers, body) or a function that writes to the socket."""

    def __init__(self) -> None:
        self.pages = {}
        self.requests = []
        self.release = Event()
        self.url = ""

    def page(self, path: str, body: bytes | str = b"", *, status=200, **headers) -> str:
        data = body.encode() if isinstance(body, str) else body
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = (status, fields, data)
        return self.url + path

    def html(self, path: str, body: str, **headers) -> str:
        return self.page(path, body, Content_Type="text/html; charset=utf-8", **headers)

    def moved(self, path: str, to: str, status: int = 302) -> str:
        return self.page(path, status=status, Location=to)

    def packed(self, path: str, body: bytes) -> str:
        return self.page(
            path,
            gzip.compress(body),
            Content_Type="text/plain",
            Content_Encoding="gzip",
        )


@contextmanager
def serving():
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            site.requests.append((self.path, dict(self.headers)))
            page = site.pages.get(self.path.partition("?")[0])
            if callable(page):
                self.close_connection = True
                page(self)
                return
            status, headers, body = page or (
                404,
                {"Content-Type": "text/html"},
                b"<p>nothing here",
            )
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                # The reader has had enough
                self.close_connection = True

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        site.release.set()
        server.shutdown()
        join(thread)
        server.server_close()
