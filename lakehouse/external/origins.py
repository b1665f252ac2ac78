"""Where requests may go: addresses in one form, the places of the settings, and which network addresses are public.

Rule of this file: pure. Whatever reads as two things is refused, never repaired: an address must mean the same to us,
to the library that sends the request and to the host. What may be asked is a list of exact places, and what a name
resolves to is looked at as well, since whoever owns the name chooses that.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from lakehouse.external.source import Origin
from schemas.knowledge import MAX_URL

PORTS: Final = {"https": 443, "http": 80}
_PLACE: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5})?)?")
_NAME: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A last label like this makes the whole a network address to a browser: 2130706433, 127.1, 0x7f.1."""
_ESCAPE: Final = re.compile(r"%(?P<digits>[0-9A-Fa-f]{2})|%")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH: Final = "/:@!$&'()*+,;=~%"
_QUERY: Final = "/?:@!$&'()*+,;=~%[]"

_NOT_PUBLIC: Final = tuple(
    map(
        ip_network,
        (
            "100.64.0.0/10",  # carrier-grade NAT
            "192.0.0.0/24",  # protocol assignments
            "192.88.99.0/24",  # relays of 6to4
            "198.18.0.0/15",  # benchmarks
            "224.0.0.0/3",  # multicast and reserved
            "2001::/23",  # protocol assignments, Teredo among them
            "2002::/16",  # 6to4
        ),
    )
)
"""Besides what the standard library knows as private: it differs between versions, and tunnels lead anywhere."""
_UNICAST: Final = ip_network("2000::/3")
"""All that was ever handed out of IPv6; outside lie NAT64, mapped, compatible and site-local addresses."""


class Refused(ValueError):  # noqa: N818 - named by what it says, as in schemas.errors
    """Something may not be asked for; the message says what and why, in plain words."""


@dataclass(frozen=True)
class Target:
    """An address that was understood.

    Attributes:
        url: In its one form: lower-case scheme and host, no usual port, no dots to climb, no fragment.
        origin: Its place.
    """

    url: str
    origin: Origin


def target_of(url: str) -> Target:
    """Understand an address.

    Args:
        url: Absolute.

    Raises:
        Refused: It is too long, of another scheme, with user information, or not of one meaning.
    """
    if not url or len(url) > MAX_URL:
        raise Refused(f"an address has 1 to {MAX_URL} characters, this one {len(url)}")
    if url != url.strip() or "\\" in url or any(ord(sign) < ord(" ") or ord(sign) == 0x7F for sign in url):  # noqa: PLR2004 - DEL
        raise Refused(f"{url!r} has characters that no address has")
    try:
        parts = urlsplit(url)
        path, query = _canonical(parts.path, _PATH), _canonical(parts.query, _QUERY)
    except ValueError as error:
        raise Refused(f"{url!r} is no address: {error}") from error
    if parts.scheme not in PORTS:
        raise Refused(f"{url!r} has the scheme {parts.scheme!r}; only https is asked")
    if "@" in parts.netloc:
        raise Refused(f"an address at {parts.netloc.rpartition('@')[2]!r} names a user; that is sent to nobody")
    origin = _origin(parts.scheme, parts.netloc)
    whole = f"{root_of(origin)}{_climbed(path)}{'?' if query else ''}{query}"
    if len(whole) > MAX_URL:
        raise Refused(f"an address has at most {MAX_URL} characters, this one {len(whole)}")
    return Target(whole, origin)


def canonical_url(url: str) -> str:
    """An address in its one form, to compare and to keep things under.

    Args:
        url: Absolute.

    Raises:
        Refused: As ``target_of``.
    """
    return target_of(url).url


def joined(base: str, reference: str) -> Target:
    """Where a reference on a page, or a redirect, leads.

    Args:
        base: Address of the page.
        reference: Absolute or relative to it.

    Raises:
        Refused: As ``target_of``.
    """
    try:
        whole = urljoin(base, reference)
    except ValueError as error:
        raise Refused(f"{reference!r} is no address: {error}") from error
    return target_of(whole)


def root_of(origin: Origin) -> str:
    """The address of a place, without a slash at its end."""
    return f"{origin.scheme}://{place_of(origin)}"


def place_of(origin: Origin) -> str:
    """Host and port as a ``Host`` header has them: no usual port, IPv6 in brackets."""
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    return host if PORTS.get(origin.scheme) == origin.port else f"{host}:{origin.port}"


def check_origin(origin: Origin, allowed: Collection[Origin], loopback: Collection[str] = ()) -> None:
    """Whether a place may be asked.

    Args:
        origin: The place.
        allowed: Exactly these may be.
        loopback: Hosts on this machine: they alone may be asked without TLS.

    Raises:
        Refused: It is not among them, or has no TLS.
    """
    if origin not in allowed:
        raise Refused(f"{root_of(origin)} is none of the places that the settings allow to be asked")
    if origin.scheme != "https" and origin.host not in loopback:
        raise Refused(
            f"{root_of(origin)} is asked without encryption; only https is allowed "
            "(MEMLAKE_DOCS_LOOPBACK=true lets sites on this machine be asked over http)"
        )


def check_addresses(host: str, addresses: Sequence[str], loopback: Collection[str] = ()) -> None:
    """Whether a host may be connected to at what its name resolves to.

    Args:
        host: Its name.
        addresses: All of them; one that may not be makes all of them refused.
        loopback: Hosts that must be on this machine; all others must be public.

    Raises:
        Refused: There is none, or one is of another kind.
    """
    if not addresses:
        raise Refused(f"{host} has no network address")
    for address in addresses:
        if host in loopback:
            if not _is_loopback(address):
                raise Refused(f"{host} is listed as a host of this machine, and its address {address} is not")
        elif not is_global(address):
            raise Refused(f"{host} has the address {address}, which is not public")


def is_global(address: str) -> bool:
    """Whether an address is one of the public internet.

    Neither are private, link-local, shared (100.64.0.0/10), reserved or multicast ones, nor those that carry another
    one inside: mapped IPv4, NAT64, 6to4 and Teredo, whatever they carry. Where names of IPv4-only hosts come as NAT64,
    those hosts are therefore not asked.

    Args:
        address: IPv4 as four decimals, or IPv6; anything else is not.
    """
    found = _address(address)
    if found is None or (isinstance(found, IPv6Address) and (found.scope_id or found not in _UNICAST)):
        return False
    return found.is_global and not any(found in network for network in _NOT_PUBLIC if network.version == found.version)


def is_address(host: str) -> bool:
    """Whether a host is told by its network address."""
    return _address(host) is not None


def _is_loopback(address: str) -> bool:
    found = _address(address)
    return found is not None and found.is_loopback


def _address(told: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(told)
    except ValueError:
        return None


def _origin(scheme: str, told: str) -> Origin:
    match = _PLACE.fullmatch(told)
    if match is None:
        raise Refused(f"{told!r} is no host: a name in ASCII (xn--… for others), or an address, and a port")
    port = int(match["port"] or PORTS[scheme])
    if not 0 < port < 1 << 16:
        raise Refused(f"{told!r} has no port that there is")
    return Origin(scheme, _host(match["host"].lower()), port)


def _host(told: str) -> str:
    in_brackets = told.startswith("[")
    if in_brackets or _NUMBER.fullmatch(told.rpartition(".")[2]):
        address = _address(told.strip("[]"))
        if address is None or isinstance(address, IPv6Address) != in_brackets:
            raise Refused(f"{told} is a number; an address is written as four decimals, or as IPv6 in brackets")
        return address.compressed
    if _NAME.fullmatch(told) is None:
        raise Refused(f"{told!r} is no name of a host")
    return told


def _canonical(part: str, safe: str) -> str:
    """Escape what must be, and nothing that need not be; a stray % is one that somebody forgot to escape.

    Raises:
        UnicodeEncodeError: It holds half of a character.
    """
    return _ESCAPE.sub(_escape, quote(part, safe=safe))


def _escape(match: re.Match[str]) -> str:
    digits = match["digits"]
    if digits is None:
        return "%25"
    sign = chr(int(digits, 16))
    return sign if sign in _UNRESERVED else f"%{digits.upper()}"


def _climbed(path: str) -> str:
    """A path without ``.`` and ``..``, which never lead above the root (RFC 3986, 5.2.4)."""
    kept: list[str] = []
    steps = path.split("/")[1:]
    for step in steps:
        if step == "..":
            del kept[-1:]
        elif step != ".":
            kept.append(step)
    if steps and steps[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)
