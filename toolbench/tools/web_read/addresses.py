"""Check network addresses: private addresses are refused unless the caller allows them."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterator

from toolbench.tools.failure_sentence import RunError

IP = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Awaitable[list[str]]]

_UNICAST = ipaddress.IPv6Network("2000::/3")
"""The public part of IPv6. All other addresses are local, or not in use."""
_PROTOCOLS = ipaddress.IPv4Network("192.0.0.0/24")
"""Addresses of protocols and a cloud's metadata. Python before 3.11.9 calls most of them public."""
_SIXTOFOUR = ipaddress.IPv6Network("2002::/16")
"""Addresses of 6to4, which is obsolete (RFC 7526). Some Python versions call them public."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# The third quarter of an address that ends with an IPv4 address
_ISATAP = (
    0x0000_5EFE,
    0x0200_5EFE,
)


async def resolve(host: str, port: int) -> list[str]:
    """Return the network addresses of *host*, in the order in which to try them.

    Raises:
        OSError: If *host* is not known.
    """
    addresses = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in addresses))


def is_public(address: str) -> bool:
    """Tell whether *address* is public; an IPv4 address inside *address* must be public too."""
    try:
        outer = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(map(_is_open, _reachable(outer)))


def _is_open(ip: IP) -> bool:
    """Tell whether *ip* itself is public; an IPv4 address inside *ip* is not checked."""
    if isinstance(ip, ipaddress.IPv6Address) and ip not in _UNICAST:
        return False
    if ip in _PROTOCOLS or ip in _SIXTOFOUR:
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def _reachable(ip: IP) -> Iterator[IP]:
    """Yield the addresses that a connection to *ip* can reach: *ip*, and IPv4 addresses inside it.

    For mapped addresses (RFC 4291) and addresses of the public translator (RFC 6052), only the
    inner IPv4 address is yielded. Other IPv6 addresses with an IPv4 address inside (`::a.b.c.d`,
    `::ffff:0:a.b.c.d`, `64:ff9b:1::/48`) are used only in private networks, so they are not public.
    """
    if isinstance(ip, ipaddress.IPv4Address):
        yield ip
        return
    last = ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
    if ip.ipv4_mapped is not None or ip in _NAT64:
        yield last
        return
    yield ip
    yield from ip.teredo or ()
    if int(ip) >> 32 & 0xFFFF_FFFF in _ISATAP:
        yield last


async def allowed(host: str, port: int, *, resolver: Resolver, private: bool) -> list[str]:
    """Return the network addresses of *host*, if connections to *host* are allowed.

    Unless *private* is true, even one private address makes *host* forbidden, because a host with
    public and private addresses may be an attack.

    Raises:
        RunError: If *host* is unknown, or if it has a private address and *private* is false.
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
