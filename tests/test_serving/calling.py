"""An agent that calls while the test goes on."""

from contextlib import suppress
from threading import Thread

import httpx2
from mcp_types import Implementation
from patience import join

from test_serving.clients import talk


class Caller:
    """Calls in a thread of its own; `result()` waits."""

    def __init__(self, served, tool, arguments=None, mode="auto", name=None):
        self._results = []
        options = {"client_info": Implementation(name=name, version="1")} if name else {}

        async def conversation(client):
            self._results.append(
                await client.call_tool(tool, arguments or {}, raise_on_error=False)
            )

        def work():
            # It says goodbye to a closed server
            with suppress(httpx2.ConnectError):
                talk(served, conversation, mode, **options)

        self._thread = Thread(target=work)
        self._thread.start()

    def result(self):
        """Return what came."""
        join(self._thread)
        return self._results[0]
