"""Header names that are no UTF-8: read all the same.

Rule of this file: it stands in for two classes of the Kafka client. Kafka takes any bytes as a header's name; the
client ends on one that is no UTF-8, and so does every worker that reads the record, each time it starts again. Here
such a batch is read once more, by the client's own slower reader, with the odd bytes shown by their numbers.
"""

from collections.abc import Iterator
from typing import Any

from aiokafka.consumer import fetcher
from aiokafka.record.default_records import _DefaultRecordBatchPy
from aiokafka.record.memory_records import MemoryRecords, _MemoryRecordsPy


class _Bytes(bytearray):
    """Bytes whose parts become text, whatever they are."""

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return _Bytes(found) if isinstance(key, slice) else found

    def decode(self, encoding: str = "utf-8", errors: str = "backslashreplace") -> str:
        return super().decode(encoding, errors)


class _Batch(_DefaultRecordBatchPy):  # type: ignore[misc]
    _buffer: Any

    def _maybe_uncompress(self) -> None:
        super()._maybe_uncompress()
        if not isinstance(self._buffer, _Bytes):
            self._buffer = _Bytes(self._buffer)


class _Records:
    """The batches of one answer of the broker that hold an offset or a later one."""

    def __init__(self, data: bytes, start: int) -> None:
        self._batches = [batch for batch in _batches(data) if batch.next_offset > start]

    def has_next(self) -> bool:
        return bool(self._batches)

    def next_batch(self) -> Any:
        return self._batches.pop(0)


def _batches(data: bytes) -> Iterator[Any]:
    slices = _MemoryRecordsPy(data)
    while slices.has_next():
        part = slices._next_slice  # noqa: SLF001 - it makes the fast reader's batches of them
        yield _Batch(bytearray(part))
        slices.next_batch()


class _Answer(MemoryRecords):  # type: ignore[misc]
    """Keeps the bytes, to read them once more."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.data = data


class _Partition(fetcher.PartitionRecords):  # type: ignore[misc]
    _records: Any

    def _unpack_records(self) -> Iterator[Any]:
        try:
            yield from super()._unpack_records()
        except UnicodeDecodeError:
            self._records = _Records(self._records.data, self.next_fetch_offset)
            yield from super()._unpack_records()


def install() -> None:
    """Let every consumer of this process read leniently; idempotent."""
    fetcher.MemoryRecords = _Answer
    fetcher.PartitionRecords = _Partition
