"""The thread before the model: turns, bounds, giving up, failures and the end, with a model that waits on command."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError

import numpy as np
import pytest

from lakehouse.embedding.embedder import Vectors
from lakehouse.embedding.onnx_embedder import OnnxEmbedder
from lakehouse.embedding.thread import EmbeddingThread
from schemas.errors import InvalidMessage, Unavailable

SHORT_S = 5.0  # nothing here takes that long unless it hangs


class Gate:
    """A model whose token is the text's number and whose runs pass only while the gate is open."""

    dimension = 2

    def __init__(self) -> None:
        self.ran: list[list[int]] = []
        self.reached = threading.Semaphore(0)
        self._open = threading.Event()
        self._stopped = False

    def open(self) -> None:
        self._open.set()

    def tokenize(self, text: str) -> list[int]:
        if text == "nothing":
            raise InvalidMessage("The model reads nothing in it")
        if text == "bug":
            raise ZeroDivisionError
        return [int(text)]

    def run(self, rows: Sequence[Sequence[int]]) -> Vectors:
        self.reached.release()
        assert self._open.wait(SHORT_S)
        if self._stopped:
            raise Unavailable("stopped")
        self.ran.append([row[0] for row in rows])
        return np.array([(row[0], 1) for row in rows], np.float32)

    def stop(self) -> None:
        self._stopped = True
        self._open.set()


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.stop()


def _thread(gate: Gate, *, queue_texts: int = 100, tokens_per_run: int = 1) -> EmbeddingThread:
    return EmbeddingThread(gate, queue_texts=queue_texts, tokens_per_run=tokens_per_run)


def test_rows_come_in_the_order_of_the_texts(gate: Gate) -> None:
    gate.open()

    vectors = _thread(gate, tokens_per_run=2).submit(["3", "1", "2"]).result(SHORT_S)

    assert vectors[:, 0].tolist() == [3, 1, 2]
    assert gate.ran == [[3, 1], [2]]


def test_a_small_call_does_not_wait_for_a_large_one(gate: Gate) -> None:
    thread = _thread(gate)
    large = thread.submit([str(n) for n in range(50)])
    assert gate.reached.acquire(timeout=SHORT_S)
    small = thread.submit(["77"])
    gate.open()

    small.result(SHORT_S)
    large.result(SHORT_S)

    assert [77] in gate.ran[:4]


def test_no_more_texts_are_in_work_than_the_queue_holds_and_later_calls_wait_in_order(gate: Gate) -> None:
    thread = _thread(gate, queue_texts=4)
    first = thread.submit(["1", "2", "3"])
    assert gate.reached.acquire(timeout=SHORT_S)
    second, third = thread.submit(["4", "5"]), thread.submit(["6"])  # the third would fit, but is not its turn
    gate.open()

    for call in (first, second, third):
        call.result(SHORT_S)

    assert gate.ran[:3] == [[1], [2], [3]]
    assert sorted(gate.ran[3:]) == [[4], [5], [6]]


def test_a_call_larger_than_the_queue_is_done_when_it_is_alone(gate: Gate) -> None:
    thread = _thread(gate, queue_texts=2)
    gate.open()

    calls = [thread.submit(["1"]), thread.submit([str(n) for n in range(9)]), thread.submit(["2"])]

    assert [len(call.result(SHORT_S)) for call in calls] == [1, 9, 1]


def test_a_cancelled_call_is_dropped_at_its_next_turn(gate: Gate) -> None:
    thread = _thread(gate)
    call = thread.submit([str(n) for n in range(50)])
    assert gate.reached.acquire(timeout=SHORT_S)
    call.cancel()
    gate.open()

    thread.submit(["77"]).result(SHORT_S)

    assert gate.ran == [[0], [77]]
    with pytest.raises(CancelledError):
        call.result(0)


@pytest.mark.parametrize(("text", "error"), [("nothing", InvalidMessage), ("bug", Unavailable), ("x", Unavailable)])
def test_a_failing_call_is_told_and_the_next_one_is_served(text: str, error: type[Exception], gate: Gate) -> None:
    thread = _thread(gate)
    gate.open()

    with pytest.raises(error):
        thread.submit(["1", text]).result(SHORT_S)
    assert thread.submit(["2"]).result(SHORT_S)[0, 0] == 2


def test_close_ends_the_run_in_hand_and_fails_every_call_at_once(gate: Gate) -> None:
    thread = _thread(gate, queue_texts=2)
    calls = [thread.submit(["1", "2"]), thread.submit(["3"])]
    assert gate.reached.acquire(timeout=SHORT_S)

    started = time.perf_counter()
    thread.close(SHORT_S)

    assert time.perf_counter() - started < SHORT_S / 2
    for call in calls:
        with pytest.raises(Unavailable):
            call.result(SHORT_S)
    with pytest.raises(Unavailable, match="closed"):
        thread.submit(["4"])


async def test_a_caller_that_gives_up_leaves_the_embedder_usable(gate: Gate) -> None:
    embedder = OnnxEmbedder(gate, "gate", grouped=False, cache_size=0)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(embedder.embed(["1", "2", "3"]), 0.05)
    gate.open()

    assert (await embedder.embed(["4"]))[0, 0] == 4
    await embedder.close()
    await embedder.close()
    with pytest.raises(Unavailable, match="closed"):
        await embedder.embed([])


async def test_equal_texts_of_a_call_are_computed_once(gate: Gate) -> None:
    embedder = OnnxEmbedder(gate, "gate", grouped=False, cache_size=0)
    gate.open()

    vectors = await embedder.embed(["1", "2", " 1 ", "1"])

    assert vectors[:, 0].tolist() == [1, 2, 1, 1]
    assert sorted(gate.ran) == [[1], [2]]
    await embedder.close()


async def test_the_last_used_texts_are_kept_and_no_more(gate: Gate) -> None:
    embedder = OnnxEmbedder(gate, "gate", grouped=False, cache_size=2)
    gate.open()

    for text in ("1", "2", "1", "3", "1", "2"):  # 3 pushes 2 out, as 1 was used after it
        await embedder.embed([text])

    assert gate.ran == [[1], [2], [3], [2]]
    await embedder.close()


async def test_what_a_caller_does_to_its_vectors_stays_with_the_caller(gate: Gate) -> None:
    embedder = OnnxEmbedder(gate, "gate", grouped=False, cache_size=2)
    gate.open()
    for _ in range(2):
        vectors = await embedder.embed(["1"])

        assert vectors.tolist() == [[1, 1]]
        vectors[:] = 0
    await embedder.close()


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\n\x00", "\u0301"], ids=ascii)
async def test_a_blank_text_is_refused_and_named(text: str, gate: Gate) -> None:
    embedder = OnnxEmbedder(gate, "gate", grouped=False, cache_size=2)

    with pytest.raises(InvalidMessage, match="Text 2 of 3 is blank"):
        await embedder.embed(["1", text, "2"])
    await embedder.close()
