"""The script of the process that runs llama.cpp.

The script reads its settings from stdin, and writes one line of JSON with its address or an error.
It exits when its stdin is closed, which also happens if the program that started it exits or is
killed.
"""

import json
import os
import sys
from typing import Any


def main() -> None:
    """Load the model, listen on a free local port, and wait until stdin is closed."""
    settings = json.loads(sys.stdin.readline())
    try:
        server = _served(settings)
        line = {"address": server.listening_address}
    except Exception as error:  # noqa: BLE001 - any error is passed on
        server, line = None, {"error": str(error) or type(error).__name__}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
    if server is not None:
        sys.stdin.read()
    # A normal exit would wait for the answer that is being written
    os._exit(0)


def _served(settings: dict[str, Any]) -> Any:
    import xllamacpp  # noqa: PLC0415 - if it is missing, an error is written

    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings["path"]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [settings["key"]]
    parameters.n_ctx = settings["context"]
    # With more threads than free cores, llama.cpp waits in a loop and takes ten times as long
    parameters.cpuparams.n_threads = settings["threads"]
    parameters.cpuparams_batch.n_threads = settings["threads"]
    parameters.n_threads_http = 2
    parameters.sampling.seed = settings["seed"]
    parameters.warmup = False
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.offline = True
    return xllamacpp.Server(parameters)


if __name__ == "__main__":
    main()
