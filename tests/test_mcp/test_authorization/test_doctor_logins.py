"""The doctor uses the tokens that are kept, and begins no login."""

from patience import PATIENCE

from toolbench.mcp.doctor import diagnose


def test_of_a_kept_token_nobody_is_asked(client, guarded, person):
    """Neither while the server takes it, nor when the server does not know it any more."""
    url, provider = guarded
    entry = {"url": url, "auth": "oauth"}
    client.connect("notes", entry)
    steps = list(diagnose("notes", entry, seconds=PATIENCE))
    assert {step.state for step in steps} == {"ok", "skipped"}
    provider.access_tokens.clear()
    provider.refresh_tokens.clear()
    (step,) = (s for s in diagnose("notes", entry, seconds=PATIENCE) if s.state == "failed")
    assert step.name == "authorization"
    assert "no login is begun here" in step.words
    assert len(person) == 1
    assert len(provider.clients) == 1
