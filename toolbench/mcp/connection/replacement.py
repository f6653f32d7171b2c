"""Connect new sessions, and let each take the place of the session of the same name."""

from collections.abc import Mapping, MutableMapping
from typing import Any, Protocol

from toolbench.errors import ServerError
from toolbench.mcp.connected_servers import Session, all_closed


class _Session(Session, Protocol):
    @property
    def is_connected(self) -> bool: ...
    async def aconnect(self, mode: str | None = None) -> None: ...


async def replace_sessions(
    servers: MutableMapping[str, Any],
    former: MutableMapping[str, Any],
    sessions: Mapping[str, _Session],
) -> None:
    """Connect *sessions* at the same time, and put them into *servers* by their names.

    A connected session with another configuration keeps its place until the new session of its name
    is connected, and for good if the new one fails. Any other session is closed and replaced at once:
    with the same configuration this is a restart. Await this in the background loop.

    Args:
        servers: The sessions by name; it is changed.
        former: The disconnected sessions by name; what is replaced is removed.
        sessions: The sessions to connect, by name.
    """
    from anyio import create_task_group  # noqa: PLC0415 - asyncio, only for what is async

    old = {name: servers[name] for name in sessions if name in servers}
    staying = {
        name: session
        for name, session in old.items()
        if session.is_connected and session.entry != sessions[name].entry
    }
    servers.update({n: new for n, new in sessions.items() if n not in staying})
    for name in sessions:
        former.pop(name, None)
    try:
        async with create_task_group() as tasks:
            for name, session in old.items():
                if name not in staying:
                    tasks.start_soon(session.aclose)
            for name, session in sessions.items():
                tasks.start_soon(_connect, servers, session, staying.get(name))
    except BaseException:
        # Interrupted: close all, leave no half collection
        await all_closed(list(sessions.values()))
        raise


async def _connect(
    servers: MutableMapping[str, Any], session: _Session, staying: _Session | None
) -> None:
    """Connect *session*, and then let it replace the session that is *staying* until then."""
    try:
        await session.aconnect()
    except ServerError:
        # Kept in connection.error
        if staying is not None:
            # It has no place: its recording ends
            await session.aclose()
        return
    if staying is not None:
        servers[session.name] = session
        await all_closed([staying])


def unchanged(name: str) -> str:
    """Return a sentence: a new session failed, and the connected session *name* keeps its place."""
    return f"The server {name!r} from before is still connected."
