"""A text's vector is the same, bit for bit, whatever it is embedded with, by whom, and how often."""

import asyncio
import itertools
import random
import sys
import threading
import time
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse.embedding.check_texts import CHECK_TEXTS
from lakehouse.embedding.embedder import Vectors
from lakehouse.embedding.engine import Engine
from lakehouse.embedding.exported import export_folder, read_export
from lakehouse.embedding.load import load_embedder
from lakehouse.embedding.model import BUNDLED
from lakehouse.embedding.onnx_embedder import OnnxEmbedder
from schemas.conversation import is_blank
from schemas.errors import InvalidMessage, Unavailable

WHO = ("I", "My brother", "The backend team", "Dr. Okafor", "Our landlord in Coimbra", "她")
DID = ("moved to", "is allergic to", "no longer uses", "decided against", "pays 19.90 € a month for", "fixed")
WHAT = ("Lisbon", "peanuts", "MongoDB 7", "the blue bicycle", "retry_max_s = 10 in settings.py", "green tea 🍵")
WHEN = ("", " yesterday", " in March 2024", " because the old one kept failing after every single deployment")
SENTENCES = [f"{who} {did} {what}{when}." for who, did, what, when in itertools.product(WHO, DID, WHAT, WHEN)]

ODD = [
    "\x00a",
    "a\ud800",
    "\udfff?",
    "\x1b[31mred\x1b[0m",
    "\u202eabc",
    "a" * 5000,
    "\U0010fffd.",
    "\ufffe!",
    "x\r\n\x85y",
]


def _texts() -> list[str]:
    dice = random.Random(7)
    long = [" ".join(dice.sample(SENTENCES, dice.randint(3, 30))) for _ in range(12)]
    texts = [*dice.sample(SENTENCES, 240), *long, *long[:3], *CHECK_TEXTS]
    dice.shuffle(texts)
    return texts


async def _in_batches(embedder: OnnxEmbedder, texts: list[str], sizes: list[int]) -> Vectors:
    rows: list[Vectors] = []
    start = 0
    for size in itertools.cycle(sizes):
        if start >= len(texts):
            return np.concatenate(rows)
        rows.append(await embedder.embed(texts[start : start + size]))
        start += size
    raise AssertionError


async def test_vectors_are_identical_whatever_the_batch(embedder: OnnxEmbedder) -> None:
    texts = _texts()
    alone = await _in_batches(embedder, texts, [1])

    for sizes in ([len(texts)], [2, 3], [3, 64, 7, 100]):
        np.testing.assert_array_equal(await _in_batches(embedder, texts, sizes), alone, strict=True)
    backwards = await embedder.embed(texts[::-1])
    np.testing.assert_array_equal(backwards[::-1], alone, strict=True)


async def test_every_group_size_gives_the_bits_of_a_single_run(cache: Path, embedder: OnnxEmbedder) -> None:
    engine = _engine(cache, embedder)
    ids = [engine.tokenize(text) for text in SENTENCES]
    length = Counter(map(len, ids)).most_common(1)[0][0]
    same = [row for row in ids if len(row) == length]
    for size in (2, 3, 5, 8, 13, 32, 64):
        rows = [*same, *same, *same, *same][:size]
        together = engine.run(rows)

        assert len(rows) == size
        np.testing.assert_array_equal(together, np.concatenate([engine.run([row]) for row in rows]), strict=True)


async def test_this_machine_runs_groups(cache: Path, embedder: OnnxEmbedder) -> None:
    assert _engine(cache, embedder).groups_are_exact()


async def test_a_second_embedder_gives_the_same_bits(cache: Path, embedder: OnnxEmbedder) -> None:
    other = await load_embedder(BUNDLED, cache, threads=1, cache_size=100)
    texts = list(dict.fromkeys(CHECK_TEXTS))

    np.testing.assert_array_equal(await other.embed(texts), await embedder.embed(texts), strict=True)
    np.testing.assert_array_equal(await other.embed(texts), await embedder.embed(texts), strict=True)  # from its cache
    await other.close()
    assert other.id == embedder.id


def test_eight_threads_with_a_loop_each_get_the_same_bits(cache: Path) -> None:
    async def load() -> OnnxEmbedder:
        return await load_embedder(BUNDLED, cache, threads=1, cache_size=0)

    embedder = asyncio.run(load())
    texts = [*SENTENCES[:20], *CHECK_TEXTS[:12]]
    wanted = dict(zip(texts, asyncio.run(embedder.embed(texts)), strict=True))
    wrong: list[str | BaseException] = []

    def work(seed: int) -> None:
        dice = random.Random(seed)

        async def ask(several: list[str]) -> None:
            vectors = await embedder.embed(several)
            wrong.extend(text for text, vector in zip(several, vectors, strict=True) if (vector != wanted[text]).any())

        async def ask_all() -> None:
            await asyncio.gather(*(ask(dice.sample(texts, dice.randint(1, 4))) for _ in range(50)))

        try:
            asyncio.run(ask_all())
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever it is, it is wrong
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(embedder.close())
    assert wrong == []


async def test_the_loop_stays_free_while_texts_are_embedded(embedder: OnnxEmbedder) -> None:
    texts = _texts()
    work = asyncio.ensure_future(embedder.embed(texts))
    worst, last = 0.0, time.perf_counter()
    while not work.done():
        await asyncio.sleep(0.005)
        worst, last = max(worst, time.perf_counter() - last), time.perf_counter()

    assert len(await work) == len(texts)
    assert worst < 0.25


async def test_close_returns_promptly_while_long_texts_are_embedded(cache: Path) -> None:
    embedder = await load_embedder(BUNDLED, cache, threads=1, cache_size=0)
    work = asyncio.ensure_future(embedder.embed([f"{n} {CHECK_TEXTS[-2]}" for n in range(400)]))
    await asyncio.sleep(0.3)

    started = time.perf_counter()
    await embedder.close()

    assert time.perf_counter() - started < 1
    with pytest.raises(Unavailable):
        await work


@pytest.mark.parametrize("text", ODD, ids=ascii)
async def test_an_odd_text_has_a_vector(text: str, embedder: OnnxEmbedder) -> None:
    assert (await embedder.embed([text])).shape == (1, 384)


def test_the_model_reads_something_in_every_character_that_is_not_blank(cache: Path, embedder: OnnxEmbedder) -> None:
    engine = _engine(cache, embedder)
    readable = [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char) != "Cs"][::5]

    for char in readable:
        if not is_blank(char):
            engine.tokenize(char)


async def test_a_text_that_the_model_cannot_read_is_refused_by_the_engine(cache: Path, embedder: OnnxEmbedder) -> None:
    with pytest.raises(InvalidMessage):
        _engine(cache, embedder).tokenize("\u200b")


@given(st.lists(st.text(max_size=60).filter(lambda text: not is_blank(text)), max_size=6))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_text_has_a_unit_vector_and_is_like_itself(embedder: OnnxEmbedder, texts: list[str]) -> None:
    first, second = await embedder.embed(texts), await embedder.embed(texts)

    assert first.shape == (len(texts), 384)
    assert first.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, atol=1e-5)
    assert all(np.dot(one, other) >= 0.9999 for one, other in zip(first, second, strict=True))


def _engine(cache: Path, embedder: OnnxEmbedder) -> Engine:
    model_id = embedder.id.partition("/")[0]
    manifest = read_export(export_folder(cache, model_id), model_id)
    assert manifest is not None
    return Engine(export_folder(cache, model_id), manifest, threads=1)
