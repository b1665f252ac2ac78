"""Sites as the settings name them."""

import pytest

from lakehouse.external.sites import origin_of, site_of, sites_for, sites_of
from lakehouse.external.source import Origin, Site
from schemas.errors import Misconfigured

KNOWN = ("python_docs", "sphinx", "changelog")


def test_sites_are_read_in_their_order_with_project_version_and_root() -> None:
    told = "python_docs:Python=https://docs.python.org/3, sphinx:flask@3.0=https://flask.example/en/,changelog:httpx=http://127.0.0.1:81/CHANGELOG.md"

    assert sites_of(told, KNOWN) == (
        Site("python_docs", "python", "https://docs.python.org/3/"),
        Site("sphinx", "flask", "https://flask.example/en/", "3.0"),
        Site("changelog", "httpx", "http://127.0.0.1:81/CHANGELOG.md"),
    )
    assert sites_of("", KNOWN) == sites_of(" , ", KNOWN) == ()


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("flask=https://a.example/", "is not SOURCE:PROJECT"),
        ("wiki:flask=https://a.example/", "is none of the sources changelog, python_docs, sphinx"),
        ("sphinx:flask=ftp://a.example/", "this is no address of a site"),
        ("sphinx:flask=https://me:secret@a.example/", "this is no address of a site"),
        ("sphinx:flask=https://a.example/?q=1", "is no address of a site"),
        ("sphinx:flask=https://a.example:99999/", "has no port that there is"),
        ("sphinx:flask=https://a.example/,sphinx:Flask=https://b.example/", "stands twice"),
    ],
)
def test_one_that_is_written_wrong_is_told(told: str, reason: str) -> None:
    with pytest.raises(Misconfigured, match=reason):
        sites_of(told, KNOWN)


def test_the_innermost_site_holds_an_address() -> None:
    outer, inner, other = sites_of(
        "sphinx:a=https://a.example/,sphinx:b=https://a.example/b/,sphinx:c=https://c.example:8443/", KNOWN
    )

    assert site_of((outer, inner, other), "https://a.example/b/x.html") == inner
    assert site_of((outer, inner, other), "https://a.example/x.html") == outer
    assert site_of((outer, inner, other), "https://d.example/") is None
    assert sites_for((outer, inner, other), "B") == [inner]
    assert sites_for((outer, inner, other), None) == [outer, inner, other]
    assert (origin_of(outer), origin_of(other)) == (
        Origin("https", "a.example", 443),
        Origin("https", "c.example", 8443),
    )
