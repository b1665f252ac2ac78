"""What ``memlake doctor`` says of the sites of documentation."""

import pytest

from schemas.errors import Misconfigured
from streams.doctor import LOOKS
from streams.settings import Settings


async def test_sites_are_named_and_none_is_no_fault() -> None:
    named = Settings(docs="sphinx:flask=https://flask.example/en/,changelog:httpx=https://x.example/CHANGELOG.md")

    assert await LOOKS["documentation"](named) == (
        "may be asked for flask at https://flask.example/en/, httpx at https://x.example/CHANGELOG.md"
    )
    assert await LOOKS["documentation"](Settings(docs=",")) == "no site is named: nobody is asked"


async def test_a_site_that_is_written_wrong_is_told() -> None:
    with pytest.raises(Misconfigured, match="DOCS: 'wiki' is none of the sources"):
        await LOOKS["documentation"](Settings(docs="wiki:flask=https://flask.example/"))
