"""What stands in cells as a secret is in no exported file."""

import os

import pytest
from forked import run_pytest

from toolbench import run_tool
from toolbench.errors import ExportError
from toolbench.export import export_package

SECRET = "hunter2-correct-horse"
KEY = "sk-ant-" + "a1B2c3D4" * 5
TOOL = "from toolbench import tool\n@tool\ndef use(a: int = 1) -> str:\n    '''Use it.'''\n    {}"
TOP = [
    "S = {{'api_key': '{}'}}",
    "S = dict(token=b'{}')",
    "S = {{}}\nS['password'] = '{}'",
    "password, S = '{}', 1",
    "password = ('{}', 'x')\nS = password",
    "S = [('api_key', '{}')]",
    "API_KEY = b'{}'\nS = API_KEY",
    "TOKEN = 'Bearer ' + '{}'\nS = TOKEN",
    "import os\nS = os.environ.get('API_KEY', '{}')",
    "import os\nS = os.getenv('API_KEY') or '{}'\nAPI_KEY = S",
    "import os\nAPI_KEY = os.getenv('X') or '{}'\nS = API_KEY",
    "S = len(token := '{}')",
    "S = 'postgres://ada:{}@host/db'",
    "S = ('https://host/x?api_key=' '{}')",
    "S = 1  # the password: {}",
    "S = 1  # API_KEY = '{}'",
    "S = 1  # {{'api_key': '{}'}}",
    "S = '''\nAPI_KEY={}\n'''",
    "S = 'Authorization: Bearer {}'",
    'S = \'{{"password": "{}"}}\'',
    "from dataclasses import dataclass\n@dataclass\nclass C:\n    user: str\n    token: str = '{}'\nS = C",
    "from pydantic import SecretStr\nS = [SecretStr('x')]\npassword = SecretStr('{}')\nS += [password]",
    "class S:\n    '''Talks to it.\n\n    API_KEY={}\n    '''",
    "host = 'h'\npassword = f'{{host}}-{}'\nS = password",
    "page = 1\nS = f'https://host/{{page}}?api_key={}'",
    "class C:\n    pass\nS = C()\nS.password = '{}'",
]
INSIDE = [
    "def log_in(user, password='{}'):\n        return user\n    return log_in('ada')",
    "log_in = lambda *, token='{}': 1\n    return str(log_in())",
    "return str('x' == 'y' or a == 1 and (password := '{}') != '')",
    "password = 'x'\n    return str(password == '{}')",
    "token = str(a)\n    return str(token in ('x', '{}'))",
    "from hmac import compare_digest\n    token = str(a)\n    return str(compare_digest(token, '{}'))",
    "return str(dict(a=1).get('password', '{}'))",
]


# Each case is a rule of its own
@pytest.mark.every_case
@pytest.mark.parametrize("code", TOP)
def test_a_secret_of_a_cell_is_refused(notebook, tmp_path, code):
    """By the names beside it, whatever it is written in; the sentence does not hold it."""
    notebook.run(code.format(SECRET), TOOL.format("return str(S)"))
    check_refusal(notebook, tmp_path / "p", SECRET)


@pytest.mark.parametrize("body", INSIDE)
def test_a_secret_of_a_function_is_refused(notebook, tmp_path, body):
    """Defaults and comparisons too."""
    notebook.run(TOOL.format(body.format(SECRET)))
    check_refusal(notebook, tmp_path / "p", SECRET)


@pytest.mark.parametrize(
    "code",
    [
        "S = ['{}']",
        "S = f'x {{1}} {}'",
        "S = '''-----BEGIN RSA PRIVATE KEY-----\n{}\n'''",
        "S = 1  # {}",
    ],
)
def test_a_key_is_refused_by_its_shape(notebook, tmp_path, code):
    """Its issuer's prefix tells what it is, whatever it is called."""
    notebook.run(code.format(KEY), TOOL.format("return str(S)"))
    check_refusal(notebook, tmp_path / "p", KEY)


def test_a_default_of_the_tool_is_refused(notebook, tmp_path):
    """It would stand in the definition."""
    notebook.run(
        "from toolbench import tool\n@tool\n"
        f"def use(token: str = '{SECRET}') -> str:\n    '''Use it.'''\n    return ''"
    )
    check_refusal(notebook, tmp_path / "p", SECRET)


def test_a_call_with_a_key_is_no_test(notebook, tmp_path):
    """Also under a name that says nothing."""
    notebook.run(
        "from toolbench import tool\n@tool\ndef use(text: str) -> str:\n    '''Use it.'''\n    return text"
    )
    run_tool(notebook["use"], {"text": KEY})
    export_package(notebook["use"], tmp_path / "p")
    assert KEY not in everything(tmp_path / "p")


@pytest.mark.parametrize(
    "code",
    [
        "SEPARATOR_TOKEN = ' '\nS = SEPARATOR_TOKEN",
        "import os\nS = os.environ.get('API_KEY', '')",
        "import os\nS = {'Authorization': f\"Bearer {os.environ.get('X')}\"}",
        "max_tokens = 4096\nS = max_tokens",
        "S = 'https://example.org/a?page=2'",
        "S = 'Authorization: Bearer {token}'",
        "S = 1  # token: the one of the user",
        "def f(token: str, password: str = ''):\n    '''Log in.\n\n    token: required\n    '''\nS = f",
        "import re\nS = re.compile(r'[a-z]+')",
        "user, password = input.__name__, len\nS = password\nS, token = divmod(7, 2)",
        "S = [1 for token in ['sin', 'cos'] if token in ('sin', '->>')]",
        "key = 'x'\nS = f'https://example.org/a?api_key={key}&page=2'",
    ],
)
def test_what_is_no_secret_is_exported(notebook, tmp_path, code):
    """A name alone, words about a secret, and what reads one from elsewhere."""
    notebook.run(code, TOOL.format("return str(S)"))
    assert export_package(notebook["use"], tmp_path / "p").is_dir()


@pytest.mark.parametrize(("secret", "value"), [(SECRET, None), (KEY, "of-the-reader")])
def test_a_secret_in_a_variable_is_read_from_the_environment(notebook, tmp_path, secret, value):
    """The README names what to set; without it the tests are skipped with that name."""
    notebook.run(f"Service_token = '{secret}'", TOOL.format("return Service_token[:3]"))
    folder = export_package(notebook["use"], tmp_path / "p")
    assert secret not in everything(folder)
    assert "Set `SERVICE_TOKEN`" in (folder / "README.md").read_text("utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "SERVICE_TOKEN"}
    if value is not None:
        environment["SERVICE_TOKEN"] = value
    done = run_pytest(folder, "-rs", environment=environment)
    assert done.returncode == 0, done.stdout
    assert ("set SERVICE_TOKEN" in done.stdout) == (value is None)
    assert ("1 passed" in done.stdout) == (value is not None)


FILLED_IN = """
from toolbench import secret, tool

@tool
def use(a: int, api_key: str = secret("TRACKER")) -> str:
    "Use it."
    return f"{a} {api_key[:4]}"
"""


@pytest.mark.parametrize(("openhands", "is_set"), [(True, True), (False, True), (False, False)])
def test_a_secret_that_is_filled_in(notebook, tmp_path, monkeypatch, openhands, is_set):
    """The package looks it up when the tool is called; nothing is needed to import it."""
    notebook.run(FILLED_IN)
    monkeypatch.setenv("TRACKER", SECRET)
    run_tool(notebook["use"], a=1)
    folder = export_package(notebook["use"], tmp_path / "p", openhands=openhands)
    assert SECRET not in everything(folder)
    assert "Set the secret `TRACKER` in the environment" in (folder / "README.md").read_text(
        "utf-8"
    )
    if openhands:
        # The SDK is not here
        space = {}
        exec((folder / "use" / "secrets.py").read_text("utf-8"), space)
        assert space["secret"]("TRACKER").value() == SECRET
        assert "from use.secrets import Secret" in (folder / "use" / "impl.py").read_text("utf-8")
        return
    environment = {k: v for k, v in os.environ.items() if k != "TRACKER" or is_set}
    done = run_pytest(folder, "-rs", environment=environment)
    assert done.returncode == 0, done.stdout
    assert ("2 passed" in done.stdout) == is_set
    assert ("set TRACKER" in done.stdout) != is_set


def everything(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return "".join(path.read_text("utf-8", "replace") for path in files)


def check_refusal(notebook, folder, secret):
    """Check that nothing is written, and that the sentence shows no secret."""
    with pytest.raises(ExportError, match="secret") as raised:
        export_package(notebook["use"], folder)
    assert secret not in str(raised.value)
    assert not folder.exists()
