"""Reranking: each text scored against the question, by a model that reads both together.

Rule of this file: local files only, and no torch before a reranker is asked for by name. A score depends on its
question and text alone, never on what else was scored; so pairs are run one by one. Whoever waits is freed at the
deadline, and the work left behind ends with the pair in hand.
"""

import asyncio
import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from lakehouse.embedding.model import identity, in_hub_cache
from lakehouse.embedding.text import RECIPE, embedding_text
from lakehouse.embedding.turns import Steps, TurnThread
from lakehouse.retrieval.config import POOL
from lakehouse.similarity import DIGITS
from schemas.conversation import is_blank
from schemas.errors import Misconfigured, Unavailable

MOST_WAITING = 3
"""Calls that wait beyond it. Further ones are refused at once: they would not be served within any deadline."""
BLANK_SCORE = 0.0
"""Of a text with nothing in it: a model would give it a score all the same, for the marks around it."""

_CLOSE_TIMEOUT_S = 0.5  # a pair in hand ends within it, unless it hangs
_LATE = "The reranker did not answer in time"
_KIND = "ForSequenceClassification"
_USUAL_LABELS = 2  # where a configuration names none

Logit = Callable[[str, str], float]
"""How well a text answers a question, unbounded: of (question, text)."""


class Reranker(Protocol):
    """Scores texts against a question."""

    @property
    def id(self) -> str:
        """What made a score. Scores of different ids must never be compared."""

    async def rerank(self, query: str, texts: Sequence[str], *, deadline: float) -> list[float]:
        """Score each text.

        Args:
            query: The question; not blank.
            texts: At most ``POOL``. May be empty.
            deadline: When the answer must be there, in seconds of ``time.monotonic``.

        Returns:
            One score a text, in their order: 0 … 1, absolute, rounded as similarities are; 0 for a blank text. The same
            question and text have the same score whatever stands beside them.

        Raises:
            Unavailable: There is no score by the deadline, too many wait already, the model failed, or the reranker
                is closed.
        """

    async def close(self) -> None:
        """Fail whoever waits, with ``Unavailable``, and take no more. Idempotent; waits for nothing that hangs."""


class CrossEncoderReranker:
    """Serves a cross-encoder in one thread of its own, a pair at a time; see ``load_reranker``."""

    def __init__(self, logit: Logit, model_id: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start serving.

        Args:
            logit: The opened model; called from the reranker's thread alone.
            model_id: Its identity.
            clock: Of deadlines, seconds.
        """
        self.id = f"{model_id}/cross-encoder-fp32/{RECIPE}"
        self._logit = logit
        self._clock = clock
        self._thread = TurnThread("reranker", room=POOL, most_waiting=MOST_WAITING)

    async def rerank(self, query: str, texts: Sequence[str], *, deadline: float) -> list[float]:
        """See ``Reranker.rerank``."""
        left = deadline - self._clock()
        if left <= 0:
            raise Unavailable(_LATE)
        if not texts:
            return []
        call = self._thread.submit(len(texts), self._steps(query, list(texts), deadline))
        try:
            async with asyncio.timeout(left):
                return await asyncio.wrap_future(call)  # the thread drops what is cancelled
        except TimeoutError as error:
            raise Unavailable(_LATE) from error

    async def close(self) -> None:
        """See ``Reranker.close``."""
        await asyncio.to_thread(self._thread.close, _CLOSE_TIMEOUT_S)

    def _steps(self, query: str, texts: Sequence[str], deadline: float) -> Steps[list[float]]:
        question, scores = embedding_text(query), []
        for text in texts:
            if self._clock() >= deadline:  # the event loop may be too busy to cancel
                raise Unavailable(_LATE)
            answer = embedding_text(text)
            scores.append(BLANK_SCORE if is_blank(answer) else score_of(self._logit(question, answer)))
            yield
        return scores


def score_of(logit: float) -> float:
    """The logistic function of a logit, 0 … 1, rounded.

    Raises:
        Unavailable: It is not finite.
    """
    if not math.isfinite(logit):
        raise Unavailable(f"The reranking model gave {logit}, which is no score")
    return round(0.5 * (1 + math.tanh(logit / 2)), DIGITS)  # of this form nothing overflows


async def load_reranker(name: str) -> CrossEncoderReranker:
    """Open a cross-encoder for reranking; it takes seconds, as torch does.

    Args:
        name: A folder, or a name in the local Hugging Face cache. Nothing is downloaded.

    Raises:
        Misconfigured: The model is not there, is no cross-encoder with one score, cannot be loaded, or what serves it
            is not installed.
    """
    return await asyncio.to_thread(_load, name)


def _load(name: str) -> CrossEncoderReranker:
    folder = find_cross_encoder(name)
    try:
        logit = _open(folder)
        score_of(logit("question", "text"))
    except ImportError as missing:
        raise Misconfigured(
            f"RERANKER: to rerank, more must be installed: pip install memlake[rerank] ({missing})"
        ) from missing
    except Exception as error:  # whatever its library raises on what is in the folder
        raise Misconfigured(f"RERANKER: the cross-encoder in {folder} cannot be loaded: {error}") from error
    return CrossEncoderReranker(logit, identity(name, folder, [folder]))


def find_cross_encoder(name: str) -> Path:
    """Find a cross-encoder's folder, and see without any machine learning that it is one.

    Raises:
        Misconfigured: It is not there, is not complete, or is no cross-encoder with one score.
    """
    here = Path(name).expanduser()
    folder = here if here.is_dir() else in_hub_cache(name, "cross-encoder")
    if folder is None:
        raise Misconfigured(
            f"RERANKER: there is no model {name!r}: it is no folder and not in the local Hugging Face cache, and "
            f"nothing is downloaded. Name a folder, or fetch it first (hf download {name})"
        )
    _check(folder)
    return folder.resolve()


def _check(folder: Path) -> None:
    config = _read_json(folder / "config.json", dict)
    kind = (config.get("architectures") or ["nothing"])[0]
    if not str(kind).endswith(_KIND):
        raise Misconfigured(
            f"RERANKER: {folder} is no cross-encoder: its config.json names {kind}, and only models for sequence "
            f"classification (…{_KIND}) read a question and a text together"
        )
    labels = len(config["id2label"]) if config.get("id2label") else config.get("num_labels", _USUAL_LABELS)
    if labels != 1:
        raise Misconfigured(f"RERANKER: {folder} gives {labels} labels: only one with one score orders by relevance")
    if (folder / "modules.json").is_file() and len(_read_json(folder / "modules.json", list)) != 1:
        raise Misconfigured(f"RERANKER: {folder} is made of more than a classifier: what its score means is not known")
    if not any(folder.glob("*.safetensors")) and not any(folder.glob("pytorch_model*.bin")):
        raise Misconfigured(f"RERANKER: {folder} has no weights (*.safetensors): the model is not complete")


def _read_json(path: Path, kind: type) -> Any:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, kind):
            raise ValueError(f"it holds no {kind.__name__}")  # noqa: TRY004, TRY301 - one word for all that is wrong
    except (OSError, ValueError) as error:
        raise Misconfigured(f"RERANKER: {path} cannot be read ({error}): it is no (complete) cross-encoder") from error
    return content


def _open(folder: Path) -> Logit:
    import torch  # noqa: PLC0415 - seconds, and only where a reranker is configured
    from sentence_transformers import CrossEncoder  # noqa: PLC0415
    from transformers.utils import logging  # noqa: PLC0415

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # stderr is the log's
    torch.set_num_threads(1)  # more of them fight with the embedder's and the lake's for the same cores
    model = CrossEncoder(
        str(folder),
        device="cpu",
        local_files_only=True,
        activation_fn=torch.nn.Identity(),  # whatever the model's own would be: the sigmoid is ours, and applied once
    )
    model.float()  # weights kept in halves are computed with in fp32 all the same

    def logit(query: str, text: str) -> float:
        return float(model.predict([(query, text)], show_progress_bar=False)[0])

    return logit
