"""An address of this machine that nobody should come to, and who came."""

import threading
from contextlib import suppress
from socket import create_server, socket

# A page that is sent here stays where it is, and its other requests come too
ANSWER = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


class Trap:
    """An address of this machine that remembers who came."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        """What came: `nothing` for each connection, its first words (a method and a path), `udp`."""
        self._socket = create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._udp = socket(type=2)
        self._udp.bind(("127.0.0.1", self.port))

    def __enter__(self) -> "Trap":
        for listen in (self._listen, self._listen_udp):
            threading.Thread(target=listen, daemon=True).start()
        return self

    @property
    def caught(self) -> set[str]:
        """What came, each thing once."""
        return set(self.requests)

    def __exit__(self, *error: object) -> None:
        self._socket.shutdown(2)
        self._socket.close()
        self._udp.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket) -> None:
        """Keep the first words of who came; browsers also come and ask for nothing, or later."""
        self.requests.append("nothing")
        with suppress(OSError), connection:
            if words := connection.recv(200).decode("latin-1"):
                self.requests.append(" ".join(words.split(" ")[:2]))
                connection.sendall(ANSWER)

    def _listen_udp(self) -> None:
        with suppress(OSError):
            while self._udp.recv(2000):
                self.requests.append("udp")
