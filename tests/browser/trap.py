"""An address of this machine that nobody should come to, and who came."""

import threading
from contextlib import suppress
from socket import create_server, socket


class Trap:
    """An address of this machine that remembers who came."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        """The first words of what came: a method and a path, `udp`, or `nothing`."""
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
                with connection:
                    self.requests.append(_first_words(connection))

    def _listen_udp(self) -> None:
        with suppress(OSError):
            while self._udp.recv(2000):
                self.requests.append("udp")


def _first_words(connection: socket) -> str:
    """What somebody who came asks for; browsers also come and ask for nothing."""
    connection.settimeout(0.3)
    try:
        return " ".join(connection.recv(200).decode("latin-1").split(" ")[:2])
    except OSError:
        return "nothing"
