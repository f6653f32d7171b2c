"""Which network addresses may be connected to: public ones, unless told otherwise."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterator

from toolbench.tools.failure import RunError

IP = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Awaitable[list[str]]]

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of *host*, in the order to try them.

    Raises:
        OSError: If the name is not known.
    """
    found = await asyncio.get_running_loop().getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    )
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(address: str) -> bool:
    """Tell whether *address* is one of the open internet, however it is wrapped."""
    try:
        outer = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(ip.is_global and not ip.is_multicast for ip in _meant(outer))


def _meant(ip: IP) -> Iterator[IP]:
    """What connecting to *ip* can lead to: itself, and IPv4 addresses inside it."""
    if isinstance(ip, ipaddress.IPv4Address):
        yield ip
        return
    inner = [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
    if ip in _NAT64:
        inner.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
    found = [one for one in inner if one is not None]
    yield from found
    if ip.ipv4_mapped is None and ip not in _NAT64:
        yield ip


async def allowed(
    host: str, port: int, *, resolver: Resolver, private: bool
) -> list[str]:
    """Return the addresses of *host* that may be connected to.

    All must be public: a name that also leads elsewhere is up to something.

    Raises:
        RunError: If the name is not known, or one address is not public.
    """
    try:
        addresses = await resolver(host, port)
    except (OSError, UnicodeError) as error:
        msg = f"There is no host called {host!r}. Check the address."
        raise RunError(msg) from error
    wrong = next((a for a in addresses if not is_public(a)), None)
    if wrong is not None and not private:
        msg = (
            f"{host!r} leads to {wrong}, which is on this machine or a private network. "
            "Only public addresses are read: use another page, or a terminal."
        )
        raise RunError(msg)
    return addresses
