"""What a call uses and must not share while it runs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeclaredResources:
    """The resources of one call, by name: `file:/etc/hosts`, `terminal:session`.

    Calls that name the same resource run one after another; see `run_tools`. No keys, but
    declared, means that the call shares nothing; not declared means that nobody has thought
    about it. Source: OpenHands SDK, `DeclaredResources`.
    """

    keys: tuple[str, ...] = ()
    declared: bool = True
