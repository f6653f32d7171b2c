"""A keyring in a file, for the kernels of a test: `PYTHON_KEYRING_BACKEND` names its class."""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend


class FileKeyring(KeyringBackend):
    """A keyring in the file that `FILE_KEYRING` names."""

    priority = 5

    def _passwords(self):
        file = Path(os.environ["FILE_KEYRING"])
        return file, json.loads(file.read_text()) if file.exists() else {}

    def get_password(self, service, username):
        return self._passwords()[1].get(f"{service} {username}")

    def set_password(self, service, username, password):
        file, passwords = self._passwords()
        file.write_text(json.dumps({**passwords, f"{service} {username}": password}))

    def delete_password(self, service, username):
        file, passwords = self._passwords()
        del passwords[f"{service} {username}"]
        file.write_text(json.dumps(passwords))
