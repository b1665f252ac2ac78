"""Addresses in one form, places that may be asked, and addresses that are public."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakehouse.external.origins import (
    Refused,
    canonical_url,
    check_addresses,
    check_origin,
    is_address,
    is_global,
    joined,
    place_of,
    root_of,
    target_of,
)
from lakehouse.external.source import Origin
from schemas.knowledge import MAX_URL

DOCS = Origin("https", "docs.example.org", 443)

ONE_FORM = {
    "as it is": ("https://docs.example.org/3/library/", "https://docs.example.org/3/library/"),
    "no path": ("https://docs.example.org", "https://docs.example.org/"),
    "capitals of scheme and host": ("HTTPS://Docs.Example.ORG/A", "https://docs.example.org/A"),
    "usual port": ("https://docs.example.org:443/a", "https://docs.example.org/a"),
    "empty port": ("https://docs.example.org:/a", "https://docs.example.org/a"),
    "other port": ("https://docs.example.org:8443/a", "https://docs.example.org:8443/a"),
    "usual port of http": ("http://docs.example.org:80/a", "http://docs.example.org/a"),
    "fragment": ("https://docs.example.org/a#asyncio.run", "https://docs.example.org/a"),
    "query": ("https://docs.example.org/a?b=c&b=d", "https://docs.example.org/a?b=c&b=d"),
    "empty query": ("https://docs.example.org/a?", "https://docs.example.org/a"),
    "dots": ("https://docs.example.org/a/./b/../c", "https://docs.example.org/a/c"),
    "dots beyond the root": ("https://docs.example.org/../../a", "https://docs.example.org/a"),
    "dots at the end": ("https://docs.example.org/a/b/..", "https://docs.example.org/a/"),
    "dots escaped": ("https://docs.example.org/a/%2e%2E/c", "https://docs.example.org/c"),
    "needless escapes": ("https://docs.example.org/%7euser/%41", "https://docs.example.org/~user/A"),
    "small digits": ("https://docs.example.org/a%2fb", "https://docs.example.org/a%2Fb"),
    "stray percent": ("https://docs.example.org/100%", "https://docs.example.org/100%25"),
    "space": ("https://docs.example.org/a b", "https://docs.example.org/a%20b"),
    "not ASCII": ("https://docs.example.org/é?ü", "https://docs.example.org/%C3%A9?%C3%BC"),
    "IPv4": ("https://93.184.216.34/a", "https://93.184.216.34/a"),
    "IPv6": ("https://[2001:DB8:0::1]:8443/a", "https://[2001:db8::1]:8443/a"),
    "slashes in a row": ("https://docs.example.org//a//b", "https://docs.example.org//a//b"),
}

REFUSED = {
    "nothing": ("", "1 to 2000 characters"),
    "too long": ("https://docs.example.org/" + "a" * MAX_URL, "1 to 2000 characters"),
    "too long once escaped": ("https://docs.example.org/" + "é" * 500, "at most 2000 characters"),
    "file": ("file:///etc/passwd", "scheme 'file'"),
    "ftp": ("ftp://docs.example.org/", "scheme 'ftp'"),
    "data": ("data:text/html,hello", "scheme 'data'"),
    "gopher": ("gopher://docs.example.org:70/_", "scheme 'gopher'"),
    "no scheme": ("//docs.example.org/a", "scheme ''"),
    "relative": ("/library/asyncio.html", "scheme ''"),
    "user": ("https://docs.example.org@evil.example/", "names a user"),
    "user and password": ("https://a:b@docs.example.org/", "names a user"),
    "empty user": ("https://@docs.example.org/", "names a user"),
    "decimal address": ("https://2130706433/", "is a number"),
    "octal address": ("https://0177.0.0.1/", "is a number"),
    "hexadecimal address": ("https://0x7f000001/", "is a number"),
    "hexadecimal last part": ("https://127.0.0.0x1/", "is a number"),
    "short address": ("https://127.1/", "is a number"),
    "too large a part": ("https://1.2.3.256/", "is a number"),
    "zone": ("https://[fe80::1%25eth0]/", "no host"),
    "IPv4 in brackets": ("https://[127.0.0.1]/", "no address"),
    "unclosed bracket": ("https://[::1/", "no address"),
    "something behind a bracket": ("https://[::1]evil/", "no host"),
    "no host": ("https:///a", "no host"),
    "port beyond": ("https://docs.example.org:65536/", "no port"),
    "port zero": ("https://docs.example.org:0/", "no port"),
    "port in words": ("https://docs.example.org:https/", "no host"),
    "host not in ASCII": ("https://döcs.example.org/", "no host"),
    "wide digits": ("https://\uff11\uff12\uff17.0.0.1/", "no host"),
    "trailing dot": ("https://docs.example.org./", "no name of a host"),
    "hyphen first": ("https://-docs.example.org/", "no name of a host"),
    "empty label": ("https://docs..example.org/", "no name of a host"),
    "escaped host": ("https://%64ocs.example.org/", "no host"),
    "backslash": ("https://docs.example.org\\@evil.example/", "characters that no address has"),
    "tab": ("https://docs.exa\tmple.org/", "characters that no address has"),
    "line end": ("https://docs.example.org/\r\nHost: evil", "characters that no address has"),
    "delete": ("https://docs.example.org/\x7f", "characters that no address has"),
    "space before": (" https://docs.example.org/", "characters that no address has"),
    "half a character": ("https://docs.example.org/\ud800", "no address"),
}


@pytest.mark.parametrize(("told", "form"), ONE_FORM.values(), ids=ONE_FORM)
def test_an_address_has_one_form(told: str, form: str) -> None:
    assert canonical_url(told) == form
    assert canonical_url(form) == form


@pytest.mark.parametrize(("told", "why"), REFUSED.values(), ids=REFUSED)
def test_what_reads_as_two_things_is_refused_with_the_reason(told: str, why: str) -> None:
    with pytest.raises(Refused, match=re.escape(why)):
        target_of(told)


@given(st.text(max_size=60))
@example("%")
@example("a/../%2e%2e/b?%zz#c")
def test_one_form_stays_itself_and_never_leaves_its_place(tail: str) -> None:
    try:
        target = target_of(f"https://docs.example.org/{tail}")
    except Refused:
        return
    assert target.origin == DOCS
    assert target_of(target.url) == target
    assert target.url.isascii()


def test_addresses_that_differ_in_query_or_case_stay_apart() -> None:
    told = ["https://h.org/a", "https://h.org/A", "https://h.org/a?", "https://h.org/a?b", "https://h.org/a?B"]
    told += ["https://h.org/a/", "https://h.org/a%2Fb", "https://h.org/a/b", "https://h.org:8443/a"]

    assert len({canonical_url(url) for url in told}) == len(told) - 1  # an empty query is none


def test_a_reference_is_read_from_where_it_stands() -> None:
    base = "https://docs.example.org/3/library/asyncio.html"

    assert joined(base, "../genindex.html#A").url == "https://docs.example.org/3/genindex.html"
    assert joined(base, "//evil.example/x").origin == Origin("https", "evil.example", 443)


@pytest.mark.parametrize(
    "reference", ["file:///etc/passwd", "javascript:alert(1)", "https://[::1", "//u@evil.example/"]
)
def test_a_reference_that_leads_out_of_the_web_is_refused(reference: str) -> None:
    with pytest.raises(Refused):
        joined("https://docs.example.org/", reference)


def test_a_place_is_told_as_a_host_header_has_it() -> None:
    assert place_of(DOCS) == "docs.example.org"
    assert place_of(Origin("https", "::1", 8443)) == "[::1]:8443"
    assert root_of(Origin("http", "127.0.0.1", 8000)) == "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    "origin",
    [
        Origin("https", "docs.example.org", 8443),
        Origin("http", "docs.example.org", 80),
        Origin("https", "evil.example", 443),
        Origin("https", "docs.example.org.evil.example", 443),
        Origin("https", "example.org", 443),
    ],
)
def test_only_exactly_what_is_listed_may_be_asked(origin: Origin) -> None:
    check_origin(DOCS, {DOCS})
    with pytest.raises(Refused, match="none of the places"):
        check_origin(origin, {DOCS})


def test_without_encryption_only_hosts_of_this_machine_are_asked() -> None:
    plain = Origin("http", "127.0.0.1", 8000)
    check_origin(plain, {plain}, {"127.0.0.1"})

    with pytest.raises(Refused, match="without encryption"):
        check_origin(plain, {plain})


PUBLIC = ["93.184.216.34", "1.1.1.1", "192.0.1.1", "198.17.0.1", "198.20.0.1", "2606:4700::1111", "2a00:1450::1"]
NOT_PUBLIC = {
    "loopback": "127.0.0.1",
    "loopback, another": "127.8.8.8",
    "this network": "0.0.0.0",
    "private 10": "10.0.0.7",
    "private 172": "172.16.0.1",
    "private 192": "192.168.1.1",
    "link-local, where clouds tell secrets": "169.254.169.254",
    "carrier-grade NAT": "100.64.0.1",
    "carrier-grade NAT, its end": "100.127.255.255",
    "protocol assignments": "192.0.0.9",
    "documentation": "192.0.2.1",
    "6to4 relay": "192.88.99.1",
    "benchmarks": "198.18.0.1",
    "benchmarks, its end": "198.19.255.255",
    "multicast": "224.0.1.1",
    "reserved": "240.0.0.1",
    "broadcast": "255.255.255.255",
    "loopback of IPv6": "::1",
    "unspecified": "::",
    "mapped": "::ffff:127.0.0.1",
    "mapped, though public": "::ffff:93.184.216.34",
    "compatible": "::93.184.216.34",
    "NAT64": "64:ff9b::a9fe:a9fe",
    "NAT64, local": "64:ff9b:1::1",
    "Teredo": "2001:0:4136:e378::1",
    "6to4": "2002:7f00:1::1",
    "documentation of IPv6": "2001:db8::1",
    "unique local": "fd00::1",
    "link-local of IPv6": "fe80::1",
    "with a zone": "2606:4700::1111%eth0",
    "site-local": "fec0::1",
    "multicast of IPv6": "ff02::1",
    "decimal": "2130706433",
    "octal": "0177.0.0.1",
    "a name": "localhost",
    "nothing": "",
}


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_global(address)


@pytest.mark.parametrize("address", NOT_PUBLIC.values(), ids=NOT_PUBLIC)
def test_all_others_are_not(address: str) -> None:
    assert not is_global(address)


@given(st.ip_addresses(v=6, network="::ffff:0:0/96") | st.ip_addresses(v=6, network="2002::/16"))
def test_no_address_that_carries_another_is_public(address: object) -> None:
    assert not is_global(str(address))


def test_one_address_that_is_not_public_refuses_the_host() -> None:
    check_addresses("docs.example.org", ["93.184.216.34", "2606:4700::1111"])

    with pytest.raises(Refused, match=r"docs.example.org has the address 10\.0\.0\.7, which is not public"):
        check_addresses("docs.example.org", ["93.184.216.34", "10.0.0.7"])


def test_a_host_of_this_machine_is_at_no_other_address() -> None:
    check_addresses("localhost", ["127.0.0.1", "::1"], {"localhost"})

    for address in ("93.184.216.34", "10.0.0.7", "::ffff:127.0.0.1", "nonsense"):
        with pytest.raises(Refused, match="is not"):
            check_addresses("localhost", [address], {"localhost"})


def test_a_host_without_addresses_is_refused() -> None:
    with pytest.raises(Refused, match="no network address"):
        check_addresses("docs.example.org", [])


def test_an_address_is_told_from_a_name() -> None:
    assert [is_address(host) for host in ("127.0.0.1", "::1", "docs.example.org")] == [True, True, False]
