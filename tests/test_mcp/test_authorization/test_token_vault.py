"""Where tokens are kept."""

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError, PasswordSetError

from toolbench.mcp.authorization.logout import log_out
from toolbench.mcp.authorization.token_vault import TokenVault, keyring_here, vault
from toolbench.mcp.config.reader import read_entry
from toolbench.mcp.server_session import MCPServerSession

URL = "https://mcp.example/mcp"
ITEMS = {"mcp-oauth-token t": {"access_token": "one-long-token"}}


class FakeKeyring(KeyringBackend):
    """A keyring in memory; it refuses everything while it is locked, and long passwords always."""

    priority = 5
    # As in Windows
    longest = 2_560

    def __init__(self):
        super().__init__()
        self.passwords = {}
        self.is_locked = self.is_read_only = False

    def _open(self):
        if self.is_locked:
            raise KeyringLocked
        return self.passwords

    def get_password(self, service, username):
        return self._open().get((service, username))

    def set_password(self, service, username, password):
        if len(password) > self.longest:
            raise PasswordSetError
        self._open()[service, username] = password

    def delete_password(self, service, username):
        if self.is_read_only:
            raise PasswordDeleteError
        del self._open()[service, username]


@pytest.fixture
def ring():
    """A keyring that works."""
    backend = FakeKeyring()
    keyring.set_keyring(backend)
    return backend


class TestTokens:
    def test_are_in_the_keyring_if_there_is_one(self, ring, tmp_path):
        """And in no file; the name says of which host they are."""
        TokenVault(tmp_path).put(URL, ITEMS)
        ((service, name),) = ring.passwords
        assert service == "jupyter-toolbench"
        assert name.startswith("mcp.example ")
        assert list(tmp_path.iterdir()) == []
        assert TokenVault(tmp_path).items(URL) == ITEMS
        assert TokenVault(tmp_path).remove(URL)
        assert ring.passwords == {}

    def test_are_in_a_file_while_the_keyring_is_locked(self, ring, tmp_path):
        """Later they are where they can be read, and nowhere else."""
        ring.is_locked = True
        vault = TokenVault(tmp_path)
        vault.put(URL, ITEMS)
        assert vault.items(URL) == ITEMS
        assert len(list(tmp_path.iterdir())) == 1
        ring.is_locked = False
        assert vault.items(URL) == ITEMS
        vault.put(URL, ITEMS)
        assert list(tmp_path.iterdir()) == []
        assert len(ring.passwords) == 1

    @pytest.mark.parametrize("reason", ["locked", "too long"])
    def test_that_the_keyring_refuses_replace_its_older_ones(self, ring, tmp_path, reason):
        """What was put last is read, also when the keyring still has what was put before."""
        vault = TokenVault(tmp_path)
        vault.put(URL, ITEMS)
        length = 3_000 if reason == "too long" else 10
        newer = {"mcp-oauth-token t": {"access_token": "n" * length}}
        ring.is_locked = reason == "locked"
        vault.put(URL, newer)
        ring.is_locked = False
        assert len(ring.passwords) == 1
        assert vault.items(URL) == newer
        assert vault.remove(URL)
        assert vault.items(URL) == {}

    def test_of_one_server_are_not_those_of_another(self, tmp_path):
        """Each URL has its own."""
        vault = TokenVault(tmp_path)
        vault.put(URL, ITEMS)
        assert vault.items(f"{URL}/2") == {}
        assert not vault.remove(f"{URL}/2")
        assert vault.items(URL) == ITEMS

    def test_of_none_leave_nothing(self, tmp_path):
        """An empty file is no file."""
        vault = TokenVault(tmp_path)
        vault.put(URL, ITEMS)
        vault.put(URL, {})
        assert list(tmp_path.iterdir()) == []

    def test_that_cannot_be_deleted_are_said_to_be_here(self, ring, state):
        """A logout says that they are gone only if they are."""
        url = "http://127.0.0.1:9/mcp"
        vault.put(url, ITEMS)
        session = MCPServerSession("gone", read_entry({"url": url, "auth": "oauth"}))
        ring.is_read_only = True
        assert "still here" in log_out(session)
        assert vault.items(url) == ITEMS
        ring.is_read_only = False
        assert "gone from this machine" in log_out(session)
        assert vault.items(url) == {}

    def test_need_no_keyring(self):
        """One without a place for passwords is as none."""
        assert keyring_here() is None
