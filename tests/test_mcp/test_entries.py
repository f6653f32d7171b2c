"""What a server's entry shows and what it hides."""

import pytest

from toolbench.mcp.config import read_entry

SECRET = "sk-verysecret-0123456789"


class TestSecrets:
    @pytest.mark.parametrize(
        "entry",
        [
            {"command": "x", "env": {"API_KEY": SECRET}},
            {"command": "x", "args": ["--api-key", SECRET]},
            {"command": "x", "args": [f"--token={SECRET}"]},
            {"command": "x", "args": [f"postgres://me:{SECRET}@host/db"]},
            {"url": f"https://host/mcp?api_key={SECRET}"},
            {"url": f"https://me:{SECRET}@host/mcp"},
            {
                "url": "https://host/mcp",
                "headers": {"Authorization": f"Bearer {SECRET}"},
            },
            {"url": "https://host/mcp", "headers": {"X-Anything": SECRET}},
            {"url": "https://host/mcp", "auth": SECRET},
            {
                "url": "https://host/mcp",
                "auth": {"client_id": "me", "client_secret": SECRET},
            },
        ],
    )
    def test_are_never_shown(self, entry):
        """Neither the repr nor the target holds a secret, wherever it stands in the entry."""
        read = read_entry(entry)
        assert SECRET not in repr(read) + read.target

    @pytest.mark.parametrize(
        "entry",
        [
            {"command": "x", "env": {"API_KEY": SECRET}},
            {"command": "x", "args": ["--api-key", SECRET]},
            {"url": f"https://host/mcp?api_key={SECRET}"},
            {
                "url": "https://host/mcp",
                "headers": {"Authorization": f"Bearer {SECRET}"},
            },
            {"url": "https://host/mcp", "auth": SECRET},
        ],
    )
    def test_are_masked_in_what_a_server_writes(self, entry):
        """A server that prints its own key gives nothing away."""
        secrets = read_entry(entry).secrets
        assert SECRET not in secrets.mask(f"using {SECRET} now")

    def test_are_masked_in_json_too(self):
        """A secret with quotes is found where JSON has escaped it."""
        secrets = read_entry(
            {"command": "x", "env": {"KEY": 'a"quoted"secret'}}
        ).secrets
        assert "quoted" not in secrets.mask(r'{"key": "a\"quoted\"secret"}')

    def test_values_that_are_no_secrets_stay_readable(self):
        """What is not called a secret and is too short for one is not masked."""
        entry = read_entry(
            {"command": "x", "env": {"LOG_LEVEL": "debugging", "KEY": "1"}}
        )
        assert entry.secrets.mask("debugging 1") == "debugging 1"


class TestExpanded:
    def test_fills_in_every_part(self):
        """Command, arguments, environment, URL and headers may all refer to variables."""
        entry = read_entry({"command": "${A}", "args": ["${A}"], "env": {"K": "${A}"}})
        filled = entry.expanded({"A": "value"})
        assert (filled.command, filled.args, filled.env) == (
            "value",
            ("value",),
            {"K": "value"},
        )

    def test_knows_the_folder_of_the_configuration(self, tmp_path):
        """`${workspaceFolder}` is where the configuration is."""
        entry = read_entry({"command": "${workspaceFolder}/x"}, base=tmp_path)
        assert entry.expanded({}).command == f"{tmp_path}/x"
