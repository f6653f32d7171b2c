"""What a server's entry shows and what it hides."""

import pytest

from toolbench.mcp.config.reader import read_entry
from toolbench.redaction import MARK

SECRET = "sk-verysecret-0123456789"


HOLDERS = [
    {"command": "x", "env": {"API_KEY": SECRET}},
    {"command": "x", "env": {"DB_PASS": SECRET}},
    {"command": "x", "env": {"PASSPHRASE": SECRET}},
    {"command": "x", "env": {"githubToken": SECRET}},
    {"command": "x", "env": {"GITHUB_PAT": SECRET}},
    {"command": "x", "env": {"DATABASE_URL": f"postgres://me:{SECRET}@host/db"}},
    {"command": "x", "env": {"HEADERS": f'{{"Authorization": "Bearer {SECRET}"}}'}},
    {"command": "x", "args": ["--api-key", SECRET]},
    {"command": "x", "args": ["--token", "another-one", "--token", SECRET]},
    {"command": "x", "args": [f"--token={SECRET}"]},
    {"command": "x", "args": ["--config", f'{{"deep": [{{"apiKey": "{SECRET}"}}]}}']},
    {"command": "x", "args": [f"postgres://me:{SECRET}@host/db"]},
    {"command": "docker", "args": ["run", "-e", f"GITHUB_TOKEN={SECRET}", "image"]},
    {"command": "docker", "args": ["run", f"--env=GITHUB_TOKEN={SECRET}", "image"]},
    {"command": "x", "args": ["--header", f"Authorization: Bearer {SECRET}"]},
    {"command": "x", "args": ["-H", f"X-Api-Key:{SECRET}"]},
    {"command": "uvx", "args": ["--from", f"git+https://{SECRET}@host/x", "x"]},
    {"url": f"https://host/mcp?api_key={SECRET}"},
    {"url": f"https://host/mcp?a=b&token={SECRET}#c"},
    {"url": f"https://host/mcp?sv=1&sig={SECRET}"},
    {"url": f"https://me:{SECRET}@host/mcp"},
    {"url": f"https://{SECRET}@host/mcp"},
    {"url": f"https://{SECRET}:x-oauth-basic@host/mcp"},
    {"url": "https://host/mcp", "headers": {"Authorization": f"Bearer {SECRET}"}},
    {"url": "https://host/mcp", "headers": {"X-Api-Key": SECRET}},
    {"url": "https://host/mcp", "auth": SECRET},
    {
        "url": "https://host/mcp",
        "auth": {"client_id": "me", "client_secret": SECRET},
    },
    {
        "openapi": "https://host/openapi.json",
        "headers": {"Authorization": f"Bearer {SECRET}"},
    },
    {"openapi": f"https://host/openapi.json?key={SECRET}"},
    {"openapi": {"paths": {}}, "base_url": f"https://me:{SECRET}@host"},
]


class TestSecrets:
    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize("entry", HOLDERS)
    def test_are_never_shown(self, entry):
        """Neither by the repr, nor by the target, nor by a server that prints its own secret."""
        server = read_entry(entry)
        assert SECRET not in repr(server) + server.target
        assert SECRET not in server.redactor.text(f"using {SECRET} now")

    @pytest.mark.parametrize(
        "url",
        ["https://host/mcp?api_key=ab%2Fcd+efgh", "https://me:ab%2Fcd+efgh@host/mcp"],
    )
    def test_in_a_url_are_known_in_both_spellings(self, url):
        """As the URL has them, which is shown, and as the server reads them."""
        entry = read_entry(url)
        assert "efgh" not in entry.target
        assert "efgh" not in entry.redactor.text("ab%2Fcd+efgh, ab/cd efgh")

    def test_that_are_short_are_hidden_where_they_stand(self):
        """Elsewhere a mask would hide half the text."""
        entry = read_entry({"command": "x", "args": ["--key", "a1", "data1"]})
        assert entry.target == f"x --key {MARK} data1"
        assert entry.redactor.text("data1") == "data1"

    def test_are_masked_in_json_too(self):
        """A secret with quotes is found where JSON has escaped it."""
        redactor = read_entry({"command": "x", "env": {"KEY": 'a"quoted"secret'}}).redactor
        assert "quoted" not in redactor.text(r'{"key": "a\"quoted\"secret"}')

    @pytest.mark.parametrize(
        ("entry", "text"),
        [
            ({"command": "x", "env": {"LOG_LEVEL": "debugging"}}, "debugging"),
            ({"command": "x", "env": {"KEY": "1"}}, "1"),
            ({"command": "x", "env": {"SORT_KEY": "name"}}, "name"),
            ({"command": "x", "env": {"AUTH": "none"}}, "none"),
            ({"command": "x", "env": {"MAX_TOKENS": "200000"}}, "200000"),
            ({"command": "x", "env": {"TOKEN_LIMIT": "200000"}}, "200000"),
            ({"command": "x", "env": {"KEYBOARD": "german"}}, "german"),
            ({"command": "x", "env": {"TOKENIZER": "cl100k_base"}}, "cl100k_base"),
            ({"command": "x", "env": {"TOKEN_FILE": "/run/secrets"}}, "/run/secrets"),
            ({"command": "x", "args": ["--no-auth", "--verbose"]}, "--verbose"),
            ({"command": "uvicorn", "args": ["auth:server"]}, "auth:server"),
            ({"command": "x", "args": ["postgres://postgres@db"]}, "postgres"),
            ({"url": "https://h", "headers": {"Accept": "text/plain"}}, "text/plain"),
            ({"url": "https://h", "headers": {"X-Region": "europe"}}, "europe"),
            ({"url": "https://h/?q=anything"}, "anything"),
        ],
    )
    def test_values_that_are_none_stay_readable(self, entry, text):
        """What is not called a secret, or counts, names or locates one, is not masked."""
        assert read_entry(entry).redactor.text(text) == text

    def test_under_a_name_that_counts_are_masked_if_they_are_no_number(self):
        """A name alone does not make a value harmless."""
        redactor = read_entry({"command": "x", "env": {"API_TOKENS": SECRET}}).redactor
        assert redactor.text(SECRET) == MARK


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

    def test_fills_in_what_an_openapi_document_needs(self):
        """Its place, the service's URL and its headers may refer to variables; it itself not."""
        entry = read_entry(
            {
                "openapi": "${A}/openapi.json",
                "base_url": "${A}",
                "headers": {"Authorization": "Bearer ${env:TOKEN}"},
            }
        ).expanded({"A": "https://host", "TOKEN": SECRET})
        assert entry.server == {
            "openapi": "https://host/openapi.json",
            "base_url": "https://host",
            "headers": {"Authorization": f"Bearer {SECRET}"},
        }
        assert SECRET not in entry.redactor.text(SECRET)
        document = {"openapi": "3.1.0", "paths": {"/${A}": {}}}
        assert read_entry(document).expanded({}).server["openapi"] == document

    @pytest.mark.parametrize(
        "entry",
        [
            {"url": "https://h", "headers": {"X-Shop": "${SHOP_KEY}"}},
            {"url": "https://h/${SHOP_KEY}/mcp"},
            {"command": "x", "args": ["${env:SHOP_KEY}"]},
            {"command": "x", "env": {"SHOP": "a ${SHOP_KEY:-none}"}},
        ],
    )
    def test_hides_a_variable_with_the_name_of_a_secret(self, entry):
        """Wherever its value goes, also under a name that tells nothing."""
        redactor = read_entry(entry).expanded({"SHOP_KEY": SECRET}).redactor
        assert redactor.text(SECRET) == MARK

    def test_hides_no_variable_with_another_name(self):
        """The name of a region is none of a secret."""
        entry = read_entry({"url": "https://h", "headers": {"X-Shop": "${REGION}"}})
        assert entry.expanded({"REGION": "europe"}).redactor.text("europe") == "europe"

    def test_knows_the_folder_of_the_configuration(self, tmp_path):
        """`${workspaceFolder}` is where the configuration is."""
        entry = read_entry({"command": "${workspaceFolder}/x"}, base=tmp_path)
        assert entry.expanded({}).command == f"{tmp_path}/x"
