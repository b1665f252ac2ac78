"""Bodies as they come over the wire, packed or not, never held beyond a limit.

Rule of this file: pure. The limit holds for what came and for what it unpacks to; what goes beyond is not unpacked
first. Only packings that were asked for are known.
"""

import zlib
from typing import Final

ACCEPTED: Final = "gzip, deflate"
"""What a request says it takes."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_RAW: Final = -zlib.MAX_WBITS


class TooLarge(ValueError):  # noqa: N818 - named by what it says, as in schemas.errors
    """A body has more bytes than allowed, packed or unpacked.

    Attributes:
        begin: As many of its bytes as are allowed, unpacked.
    """

    def __init__(self, begin: bytes = b"") -> None:
        super().__init__("it has more bytes than allowed")
        self.begin = begin


class Broken(ValueError):  # noqa: N818
    """A body is not packed as it says; the message says how."""


class Unpacker:
    """One body."""

    def __init__(self, packing: str, limit: int) -> None:
        """Begin.

        Args:
            packing: Header ``Content-Encoding``; empty for none.
            limit: Bytes at most.

        Raises:
            Broken: It is a packing that was not asked for.
        """
        self._packing = packing.strip().lower().removeprefix("x-")
        if self._packing not in {"", "identity", "gzip", "deflate"}:
            raise Broken(f"it is packed as {packing!r}; only {ACCEPTED} was asked for")
        self._limit = limit
        self._came = 0
        self._body = bytearray()
        self._head = b""
        self._inflater = zlib.decompressobj(_GZIP) if self._packing == "gzip" else None

    def feed(self, chunk: bytes) -> None:
        """Take some more of it.

        Raises:
            TooLarge: There is more than allowed.
            Broken: It is not packed as it says.
        """
        self._came += len(chunk)
        if self._packing in {"", "identity"}:
            self._add(chunk[: self._limit - len(self._body) + 1])
        else:
            self._inflate(chunk)
        if self._came > self._limit:
            raise TooLarge(bytes(self._body[: self._limit]))

    def end(self) -> bytes:
        """The whole, unpacked.

        Raises:
            Broken: It ends early.
        """
        if self._came and self._packing in {"gzip", "deflate"} and not (self._inflater and self._inflater.eof):
            raise Broken("its packing ends early")
        return bytes(self._body)

    def _inflate(self, chunk: bytes) -> None:
        data = chunk
        if self._inflater is None:  # "deflate" is zlib's format, or what is inside of it: two bytes tell
            self._head = data = self._head + chunk
            if len(data) < len(b"\x78\x9c"):
                return
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS if _is_zlib(data) else _RAW)
        try:
            while data:
                data = self._some(self._inflater, data)
        except zlib.error as error:
            raise Broken(f"it is not packed as {self._packing}: {error}") from error

    def _some(self, inflater: "zlib._Decompress", data: bytes) -> bytes:
        """Unpack as much as may be; what is left of the data."""
        if inflater.eof:
            if not data.strip(b"\0"):  # some pad the end
                return b""
            if self._packing == "deflate":
                raise Broken("something follows the end of what is packed")
            self._inflater = inflater = zlib.decompressobj(_GZIP)  # several may stand one after another
        self._add(inflater.decompress(data, self._limit - len(self._body) + 1))
        return inflater.unused_data if inflater.eof else inflater.unconsumed_tail

    def _add(self, some: bytes) -> None:
        self._body += some
        if len(self._body) > self._limit:
            raise TooLarge(bytes(self._body[: self._limit]))


def _is_zlib(head: bytes) -> bool:
    return head[0] & 0x0F == zlib.DEFLATED and (head[0] << 8 | head[1]) % 31 == 0
