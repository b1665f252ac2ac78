"""Where a fetch goes and where it does not: the list, every redirect, every address, every certificate."""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import trustme

from lakehouse.external.source import Blocked, Failed, Origin, Page, Site
from tests.unit.external.serving import HOST, Clock, Host, Names, fetcher, redirect, reply, served

BODY = b"<html><body><p>Flask.</p></body></html>"
DOCS = Origin("https", "docs.example.org", 443)
SITE = Site("sphinx", "flask", "https://docs.example.org/")
NAME = "docs.test"


@pytest.fixture
def unreached() -> Iterator[Names]:
    """Names that nobody may ask for."""
    names = Names([[]])
    yield names
    assert names.asked == 0


REFUSED = {
    "host not on the list": ("https://evil.example/", "none of the places"),
    "another port": ("https://docs.example.org:8443/", "none of the places"),
    "without encryption": ("http://docs.example.org/", "none of the places"),
    "this machine": ("https://127.0.0.1/", "none of the places"),
    "mapped address": ("https://[::ffff:127.0.0.1]/", "none of the places"),
    "decimal address": ("https://2130706433/", "is a number"),
    "octal address": ("https://0177.0.0.1/", "is a number"),
    "user trick": ("https://docs.example.org@127.0.0.1/", "names a user"),
    "file": ("file:///etc/passwd", "scheme 'file'"),
    "no address": ("asyncio.run", "scheme ''"),
    "nothing": ("", "1 to 2000 characters"),
}


@pytest.mark.parametrize(("url", "why"), REFUSED.values(), ids=REFUSED)
async def test_what_may_not_be_asked_is_not_even_looked_up(url: str, why: str, unreached: Names) -> None:
    async with fetcher(allowed={DOCS}, resolve=unreached) as fetch:
        blocked = await fetch.get(SITE, url)

    assert isinstance(blocked, Blocked)
    assert why in blocked.reason
    assert blocked.state.reason == blocked.reason


async def test_a_site_that_may_not_be_asked_has_no_pages_elsewhere(unreached: Names) -> None:
    stranger = Site("sphinx", "flask", "https://evil.example/")
    async with fetcher(allowed={DOCS}, resolve=unreached) as fetch:
        blocked = await fetch.get(stranger, "https://docs.example.org/a")

    assert isinstance(blocked, Blocked)
    assert "https://evil.example is none of the places" in blocked.reason


@pytest.mark.parametrize(
    "addresses",
    [
        ["10.0.0.7"],
        ["93.184.216.34", "10.0.0.7"],
        ["169.254.169.254"],
        ["127.0.0.1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::a00:7"],
        ["100.64.0.1"],
    ],
    ids=" ".join,
)
async def test_an_allowed_name_that_leads_inside_is_not_followed(addresses: list[str]) -> None:
    async with fetcher(allowed={DOCS}, resolve=Names([addresses])) as fetch:
        blocked = await fetch.get(SITE, "https://docs.example.org/a")

    assert isinstance(blocked, Blocked)
    assert f"docs.example.org has the address {addresses[-1]}, which is not public" in blocked.reason


async def test_a_host_of_this_machine_that_leads_elsewhere_is_not_followed() -> None:
    async with served() as host:
        inner = host.origin("localhost")
        names = Names([["93.184.216.34"]])
        async with fetcher(allowed={inner}, loopback={"localhost"}, resolve=names) as fetch:
            blocked = await fetch.get(host.site("localhost"), host.url("/a", "localhost"))

    assert isinstance(blocked, Blocked)
    assert "its address 93.184.216.34 is not" in blocked.reason
    assert host.asked == []


async def test_a_name_that_changes_its_mind_is_looked_at_on_each_hop_and_connected_where_it_was_looked_at() -> None:
    names = Names([[HOST], [HOST], ["169.254.169.254"]])
    async with served() as host:
        place = host.origin(NAME)
        async with fetcher(allowed={place}, loopback={NAME}, resolve=names) as fetch:
            host.pages |= {"/a": redirect("/b"), "/b": reply(BODY)}
            blocked = await fetch.get(host.site(NAME), host.url("/a", NAME))

    assert isinstance(blocked, Blocked)
    assert "169.254.169.254" in blocked.reason
    assert [asked.path for asked in host.asked] == ["/robots.txt", "/a"]
    assert names.asked == 3  # once for each hop, that of the rules included


async def test_a_name_that_does_not_resolve_is_a_failure() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    async with fetcher(allowed={DOCS}, resolve=resolve) as fetch:
        failed = await fetch.get(SITE, "https://docs.example.org/a")

    assert isinstance(failed, Failed)
    assert failed.reason == "the name docs.example.org cannot be resolved: no such name"


async def test_where_one_address_cannot_be_connected_to_the_next_is() -> None:
    names = Names([["127.0.0.99", HOST]])
    async with served() as host, fetcher(allowed={host.origin(NAME)}, loopback={NAME}, resolve=names) as fetch:
        host.pages["/a"] = reply(BODY)

        page = await fetch.get(host.site(NAME), host.url("/a", NAME))

    assert isinstance(page, Page)
    assert host.asked[-1].headers["host"] == f"{NAME}:{host.port}"


TRAPS = {
    "where clouds tell secrets": ("http://169.254.169.254/latest/meta-data/", "http://169.254.169.254 is none"),
    "another port of this machine": ("http://127.0.0.1:1/", "http://127.0.0.1:1 is none"),
    "a file": ("file:///etc/passwd", "scheme 'file'"),
    "a host that is not allowed": ("https://evil.example/", "https://evil.example is none"),
    "a host without scheme": ("//evil.example/", "http://evil.example is none"),
    "a decimal address": ("http://2130706433/", "is a number"),
    "a user": ("http://me@127.0.0.1/", "names a user"),
    "a backslash": ("/\\evil.example/", "characters that no address has"),
}


@pytest.mark.parametrize(("to", "why"), TRAPS.values(), ids=TRAPS)
async def test_a_redirect_into_a_trap_is_refused_at_that_hop(to: str, why: str) -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages |= {"/a": redirect("/b"), "/b": redirect(to)}

        blocked = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(blocked, Blocked)
    assert blocked.reason.startswith(f"redirected by 127.0.0.1:{host.port}: ")
    assert why in blocked.reason
    assert host.paths == ["/a", "/b"]


async def test_a_redirect_that_is_no_address_is_a_failure() -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = redirect("/b\tc")

        failed = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(failed, Failed)
    assert "gave a broken answer" in failed.reason


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_what_is_allowed_is_followed(status: int) -> None:
    async with served() as first, served() as second, fetcher(first, second) as fetch:
        first.pages["/a"] = redirect(second.url("/b"), status)
        second.pages["/b"] = reply(BODY)

        page = await fetch.get(first.site(), first.url("/a"))

    assert isinstance(page, Page)
    assert page.state.url == first.url("/a")
    assert [asked.path for asked in second.asked] == ["/robots.txt", "/b"]


async def test_redirects_in_a_circle_are_gone_once_and_not_again() -> None:
    clock = Clock()
    async with served() as host, fetcher(host, clock=clock) as fetch:
        host.pages |= {"/a": redirect("/b"), "/b": redirect("/a#here")}

        failed = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(failed, Failed)
    assert "redirects in a circle" in failed.reason
    assert failed.permanent
    assert host.paths == ["/a", "/b"]


async def test_three_redirects_are_followed_and_no_more() -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages |= {f"/{step}": redirect(f"/{step + 1}") for step in range(9)} | {"/4": reply(BODY)}

        enough = await fetch.get(host.site(), host.url("/1"))
        too_many = await fetch.get(host.site(), host.url("/0"))

    assert isinstance(enough, Page)
    assert isinstance(too_many, Failed)
    assert "redirects on and on" in too_many.reason
    assert too_many.permanent


async def test_a_redirect_to_nowhere_is_a_failure() -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = reply(status=302)

        failed = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(failed, Failed)
    assert "redirects to nowhere" in failed.reason


@contextmanager
def _certificate(*names: str) -> Iterator[tuple[ssl.SSLContext, ssl.SSLContext]]:
    """Of a server for these names, and of a client that trusts who signed it."""
    authority = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.issue_cert(*names).configure_cert(server)
    authority.configure_trust(client)
    yield server, client


async def _over_tls(host: Host, trust: ssl.SSLContext | None) -> Page | Failed:
    host.pages["/a"] = reply(BODY)
    place = {host.origin(NAME)}
    async with fetcher(allowed=place, loopback={NAME}, resolve=Names([[HOST]]), trust=trust) as fetch:
        outcome = await fetch.get(host.site(NAME), host.url("/a", NAME))
    assert isinstance(outcome, Page | Failed)
    return outcome


async def test_the_certificate_is_checked_against_the_name_though_the_connection_goes_to_an_address() -> None:
    with _certificate(NAME) as (server, client):
        async with served(server) as host:
            page = await _over_tls(host, client)

    assert isinstance(page, Page)
    assert host.asked[-1].headers["host"] == f"{NAME}:{host.port}"


@pytest.mark.parametrize("names", [("other.test",), (HOST,)], ids=["of another name", "of the address"])
async def test_a_certificate_of_anything_else_is_refused(names: tuple[str, ...]) -> None:
    with _certificate(*names) as (server, client):
        async with served(server) as host:
            failed = await _over_tls(host, client)

    assert isinstance(failed, Failed)
    assert "CERTIFICATE_VERIFY_FAILED" in failed.reason
    assert host.asked == []


async def test_a_certificate_that_nobody_knows_is_refused() -> None:
    with _certificate(NAME) as (server, _):
        async with served(server) as host:
            failed = await _over_tls(host, None)

    assert isinstance(failed, Failed)
    assert "CERTIFICATE_VERIFY_FAILED" in failed.reason
    assert host.asked == []


async def test_two_names_at_one_address_do_not_share_a_connection() -> None:
    """Else the second would be told under the certificate of the first."""
    with _certificate(NAME) as (server, client):
        async with served(server) as host:
            host.pages["/a"] = reply(BODY)
            places = {host.origin(NAME), host.origin("other.test")}
            async with fetcher(
                allowed=places, loopback={NAME, "other.test"}, resolve=Names([[HOST]]), trust=client
            ) as fetch:
                first, second = await asyncio.gather(
                    fetch.get(host.site(NAME), host.url("/a", NAME)),
                    fetch.get(host.site("other.test"), host.url("/a", "other.test")),
                )
                third = await fetch.get(host.site("other.test"), host.url("/a", "other.test"))

    assert isinstance(first, Page)
    assert isinstance(second, Failed)
    assert isinstance(third, Failed)
