"""Packed bodies: whole, byte by byte, in several pieces, too large, broken."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse.external.unpacking import Broken, TooLarge, Unpacker

LIMIT = 10_000
TEXT = b"The quick brown fox. " * 100


def raw(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


PACKED = {
    "not at all": ("", TEXT),
    "as it is": ("identity", TEXT),
    "gzip": ("gzip", gzip.compress(TEXT)),
    "gzip, in capitals": (" GZip ", gzip.compress(TEXT)),
    "gzip by its old name": ("x-gzip", gzip.compress(TEXT)),
    "gzip in two pieces": ("gzip", gzip.compress(TEXT[:700]) + gzip.compress(TEXT[700:])),
    "gzip with zeros behind it": ("gzip", gzip.compress(TEXT) + b"\0" * 20),
    "deflate as it is meant": ("deflate", zlib.compress(TEXT)),
    "deflate as some understand it": ("deflate", raw(TEXT)),
}


def unpacked(packing: str, body: bytes, step: int, limit: int = LIMIT) -> bytes:
    unpacker = Unpacker(packing, limit)
    for start in range(0, len(body), step):
        unpacker.feed(body[start : start + step])
    return unpacker.end()


@pytest.mark.parametrize("step", [1, 2, 7, LIMIT])
@pytest.mark.parametrize(("packing", "body"), PACKED.values(), ids=PACKED)
def test_a_body_comes_out_whole_in_whatever_pieces_it_came(packing: str, body: bytes, step: int) -> None:
    assert unpacked(packing, body, step) == TEXT


@given(st.binary(max_size=2000), st.sampled_from([1, 3, 64, 4096]))
def test_what_was_packed_comes_back(body: bytes, step: int) -> None:
    assert unpacked("gzip", gzip.compress(body), step) == body
    assert unpacked("deflate", zlib.compress(body), step) == body
    assert unpacked("", body, step) == body


@pytest.mark.parametrize("packing", ["", "gzip", "deflate"])
def test_an_empty_body_is_empty(packing: str) -> None:
    assert unpacked(packing, b"", 1) == b""


@pytest.mark.parametrize("packing", ["br", "zstd", "gzip, gzip", "compress"])
def test_a_packing_that_was_not_asked_for_is_a_fault(packing: str) -> None:
    with pytest.raises(Broken, match="only gzip, deflate was asked for"):
        Unpacker(packing, LIMIT)


@pytest.mark.parametrize("step", [1, 500, LIMIT])
@pytest.mark.parametrize(("packing", "body"), PACKED.values(), ids=PACKED)
def test_one_byte_more_than_allowed_is_too_much(packing: str, body: bytes, step: int) -> None:
    if len(body) <= len(TEXT):
        assert unpacked(packing, body, step, limit=len(TEXT)) == TEXT
    with pytest.raises(TooLarge) as caught:
        unpacked(packing, body, step, limit=len(TEXT) - 1)

    assert caught.value.begin == TEXT[:-1]


def test_what_comes_is_bounded_too_though_it_unpacks_to_little() -> None:
    empty = gzip.compress(b"") * 100

    with pytest.raises(TooLarge):
        unpacked("gzip", empty, 64, limit=1000)


def test_a_bomb_is_not_unpacked_further_than_allowed() -> None:
    with pytest.raises(TooLarge) as caught:
        unpacked("gzip", gzip.compress(bytes(10_000_000)), 64 * 1024)

    assert len(caught.value.begin) == LIMIT


BROKEN = {
    "not gzip": ("gzip", b"<html>"),
    "not deflate": ("deflate", b"\xff\xff\xff\xff"),
    "gzip that ends early": ("gzip", gzip.compress(TEXT)[:-9]),
    "deflate that ends early": ("deflate", zlib.compress(TEXT)[:-5]),
    "deflate of one byte": ("deflate", b"\x78"),
    "a wrong sum": ("gzip", gzip.compress(TEXT)[:-8] + bytes(8)),
    "something behind gzip": ("gzip", gzip.compress(TEXT) + b"more"),
    "something behind deflate": ("deflate", zlib.compress(TEXT) + b"more"),
}


@pytest.mark.parametrize("step", [1, LIMIT])
@pytest.mark.parametrize(("packing", "body"), BROKEN.values(), ids=BROKEN)
def test_what_is_not_packed_as_it_says_is_a_fault(packing: str, body: bytes, step: int) -> None:
    with pytest.raises(Broken):
        unpacked(packing, body, step)
