"""Skills of a server: listed, read, and refused if they are not what the server lists."""

import json
from base64 import b64encode
from hashlib import sha256

import pytest
from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider

from test_mcp.peers import scripted, serving_app
from test_mcp.servers.good import mcp as good
from test_mcp.task_server import TaskServer, app
from toolbench.errors import ServerError, ToolNotFoundError

ABOUT = "---\nname: forms\ndescription: Fill in forms.\n---\n# Forms\n"
SCRIPT = b"print('\xc3\xa9')\r\n"
TEXT = "# Forms"
PLACE = "skill://forms/SKILL.md"
COMPLETE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@pytest.fixture
def skills(client, tmp_path):
    """The skills of a server of FastMCP with a folder of one skill."""
    folder = tmp_path / "skills" / "forms"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(ABOUT)
    (folder / "scripts" / "fill.py").write_bytes(SCRIPT)
    server = FastMCP("office")
    server.add_provider(SkillsDirectoryProvider(folder.parent))
    return client.connect("office", server).skills


def digest(data):
    """The digest of some bytes as a server lists it."""
    return f"sha256:{sha256(data).hexdigest()}"


def listing(*files, **more):
    """A skill with these files, each a URI, a digest and a size."""
    resources = [{"uri": u, "digest": d, "size": s} for u, d, s in files]
    front = {"name": "forms", "description": "Fill in forms."}
    return {"uri": PLACE, "frontmatter": front, "resources": resources, **more}


def lying(path, skill, contents):
    """A server of the newer protocol that lists *skill*, and sends *contents* for each read."""
    extensions = {"io.modelcontextprotocol/skills": {}}
    discovered = {
        "supportedVersions": ["2026-07-28"],
        "serverInfo": {"name": "s", "version": "1"},
        "capabilities": {"resources": {}, "extensions": extensions},
        **COMPLETE,
    }
    templates = {"resourceTemplates": [], **COMPLETE}
    script = {
        "server/discover": [{"result": discovered}],
        "skills/list": [{"result": {"skills": [skill], **COMPLETE}}],
        "resources/templates/list": [{"result": templates}],
        "resources/read": [{"result": {"contents": contents, **COMPLETE}}],
    }
    return {**scripted(path, script), "mode": "auto"}


def text_of(text, uri=PLACE):
    """The contents of a text resource."""
    return [{"uri": uri, "mimeType": "text/markdown", "text": text}]


@pytest.mark.parametrize(("era", "is_declared"), [("modern", True), ("legacy", False)])
def test_are_declared_to_servers_of_the_newer_protocol_only(client, era, is_declared):
    """The older protocol has no extensions, neither for skills nor for tasks."""
    server = TaskServer(era)
    with serving_app(app(server)) as url:
        session = client.connect("long", f"{url}/mcp")
        session.close()
    text = json.dumps(server.asked("tools/list") + server.asked("initialize"))
    assert server.asked("tools/list")
    for extension in ("skills", "tasks"):
        assert (f"io.modelcontextprotocol/{extension}" in text) is is_declared


def test_are_listed_and_read(skills):
    """Name, purpose and files; each file is read by its path, text and bytes alike."""
    (skill,) = skills
    assert (skill.name, skill.description) == ("forms", "Fill in forms.")
    assert {file.path for file in skill.files} == {"SKILL.md", "scripts/fill.py"}
    assert skills["forms"] == skills[skill.uri] == skill
    assert skills.read("forms").text == ABOUT
    assert skills.read(skill, "scripts/fill.py").text.encode() == SCRIPT
    with pytest.raises(ToolNotFoundError, match=r"has no file 'fill.py'"):
        skills.read("forms", "fill.py")
    with pytest.raises(ToolNotFoundError, match=r"has no skill 'form'.* 'forms'"):
        skills.read("form")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_server_without_them_is_not_asked(client, mode):
    """The list is empty; the older protocol is not told of the extension either."""
    session = client.connect("good", {"server": good}, mode=mode)
    assert list(session.skills) == []
    assert session.traffic.find(method="skills/list") == []
    sent = session.traffic.find(direction="sent")
    is_declared = any("io.modelcontextprotocol/skills" in m.text for m in sent)
    assert is_declared == (mode == "auto")


class TestDigests:
    """What a server sends is compared with what it lists."""

    @pytest.mark.parametrize(
        "file",
        [
            (PLACE, digest(b"# Other"), len(TEXT)),
            (PLACE, "md5:00", len(TEXT)),
        ],
        ids=["digest", "kind"],
    )
    def test_that_differ_are_a_sentence(self, client, tmp_path, file):
        """It names the file, the skill and the server; nothing of the file comes out."""
        entry = lying(tmp_path / "s", listing(file), text_of(TEXT))
        session = client.connect("office", entry)
        with pytest.raises(ServerError) as caught:
            session.skills.read("forms")
        message = str(caught.value)
        assert message.startswith("The file 'SKILL.md' of the skill 'forms' is not the one")
        assert message.endswith("It was not used.")
        assert TEXT not in message

    def test_of_a_changed_skill_are_compared_with_a_second_reading(self, client, tmp_path):
        """An answer that is fresh for a minute is asked for again once the skill changed."""
        path, changed = tmp_path / "s", "# New forms"

        def serve(text):
            file = (PLACE, digest(text.encode()), len(text))
            entry = lying(path, listing(file), text_of(text))
            script = json.loads(path.read_text())
            script["resources/read"][0]["result"]["ttlMs"] = 60_000
            path.write_text(json.dumps(script))
            return entry

        session = client.connect("office", serve(TEXT))
        assert session.skills.read("forms").text == TEXT
        serve(changed)
        session.skills.forget()
        assert session.skills.read("forms").text == changed
        assert len(session.traffic.find(method="resources/read", direction="sent")) == 2

    def test_are_of_the_bytes(self, client, tmp_path):
        """A text that comes as bytes has the same digest."""
        file = (PLACE, digest(TEXT.encode()), len(TEXT))
        blob = {"uri": PLACE, "blob": b64encode(TEXT.encode()).decode()}
        entry = lying(tmp_path / "s", listing(file), [blob])
        contents = client.connect("office", entry).skills.read("forms")
        assert contents.blocks[0]["resource"] == blob

    @pytest.mark.parametrize(
        "more",
        [
            [{"uri": PLACE, "text": TEXT}, {"uri": "skill://forms/x", "text": "other"}],
            [{"uri": PLACE, "text": TEXT, "blob": "b3RoZXI="}],
            [{"uri": "skill://forms/x", "text": TEXT}],
        ],
        ids=["a second part", "a second form", "another place"],
    )
    def test_leave_nothing_unchecked(self, client, tmp_path, more):
        """What no digest covers does not come along with what one does."""
        file = (PLACE, digest(TEXT.encode()), len(TEXT))
        entry = lying(tmp_path / "s", listing(file), more)
        with pytest.raises(ServerError, match="not used"):
            client.connect("office", entry).skills.read("forms")

    @pytest.mark.parametrize(
        ("skill", "contents"),
        [
            (listing(("skill://other/x", digest(b"x"), 1)), text_of("x")),
            (listing((PLACE, digest(b"x"), 1)), []),
            (listing(resources="neither"), text_of("x")),
        ],
        ids=["not listed", "nothing sent", "no list"],
    )
    def test_are_needed(self, client, tmp_path, skill, contents):
        """A file without a digest, or without contents, is not used."""
        entry = lying(tmp_path / "s", skill, contents)
        skills = client.connect("office", entry).skills
        with pytest.raises(ServerError, match="not used"):
            skills.read("forms")

    def test_of_files_made_when_read_are_not_asked_for(self, client, tmp_path):
        """The server says that it cannot know them; any file in the skill's folder can be read."""
        skill = listing(resources="dynamic")
        entry = lying(tmp_path / "s", skill, text_of("now"))
        session = client.connect("office", entry)
        assert session.skills[0].is_dynamic
        assert session.skills.read("forms").text == "now"
        session.skills.read("forms", "data/now.csv")
        (message,) = session.traffic.find(method="resources/read", kind="request")[1:]
        assert '"skill://forms/data/now.csv"' in message.text


def test_damaged_skills_hide_no_others(client, tmp_path):
    """Rows that are no skills are left out."""
    entry = lying(tmp_path / "s", listing(), [])
    session = client.connect("office", entry)
    skill = listing((PLACE, digest(b"x"), 1))
    odd = [None, {}, {"uri": "x"}, {"uri": "x", "frontmatter": {"name": 3}}, skill]
    assert [item.name for item in session.skills.parse(odd)] == ["forms"]
