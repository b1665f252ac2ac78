"""The command that asks a memory.

Rule of this file: what is asked is told by options, what is answered is shown; everything between is the worker's.
"""

from datetime import datetime
from typing import Any

import click
from click.core import ParameterSource

from schemas.conversation import Scope
from schemas.retrieval import MAX_LISTED, MAX_RESULTS, PRESETS, Explanation, Preset, Reply, SearchResult
from streams.cli.options import Moment, Number, as_json, emit, run, say, scoped, settings, table
from streams.cli.talk import answered

CHOICES: dict[str, Preset] = {name: preset for name, preset in PRESETS.items() if preset is not None}
EXPLAINED = ("#", "id", "score", "semantic", "keyword", "hybrid", "rerank", "passed", "turns", "version", "text")


@click.command()
@click.argument("query")
@click.option("--top-k", type=click.IntRange(1, MAX_RESULTS), default=5, show_default=True, help="Results at most.")
@click.option("--threshold", type=Number(0, 1), default=0.3, show_default=True, help="Least score.")
@click.option(
    "--preset",
    type=click.Choice(list(CHOICES)),
    help="; ".join(f"{name}: top-k {told.top_k}, threshold {told.threshold:g}" for name, told in CHOICES.items()) + ".",
)
@click.option("--mode", type=click.Choice(["hybrid", "semantic", "keyword"]), default="hybrid", show_default=True)
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(["knowledge", "episode", "external"]),
    multiple=True,
    default=["knowledge"],
    show_default=True,
    help="Memories, turns as they were said, or documentation; may be given more than once.",
)
@click.option("--history", metavar="TEXT", multiple=True, help="What the user said before; oldest first.")
@click.option("--rerank/--no-rerank", default=None, help="Have a configured reranker read the best again, or not.")
@click.option("--as-of", type=Moment(), help="What was true then (event time).")
@click.option("--known-at", type=Moment(), help="What was believed then (recording time).")
@click.option(
    "--format", "form", type=click.Choice(["results", "context", "agent_context"]), default="results", show_default=True
)
@click.option("--agent", metavar="ID", help="With --format agent_context: whose memories, beside those of everybody.")
@click.option("--tag", "tags", multiple=True, help="Only memories with this tag; may be given more than once.")
@click.option("--session", metavar="ID", help="Only what was said in this session.")
@click.option("--explain", is_flag=True, help="Say why each result is one: its scores, its turns, what it replaced.")
@click.option("--timeout", type=Number(min=0.1), default=30.0, show_default=True, help="Seconds to wait.")
@scoped
@as_json
def ask(query: str, form: Any, explain: bool, scope: Scope, json_lines: bool, timeout: float, **told: Any) -> None:
    """Ask what is known about QUERY."""
    top_k, threshold = _how_much(told)
    if len(told["history"]) > MAX_LISTED:
        raise click.UsageError(f"--history: at most {MAX_LISTED} turns")

    async def work() -> Reply:
        from streams.client import MemoryClient

        filters = {"tags": told["tags"], **({"sessionId": told["session"]} if told["session"] else {})}
        async with MemoryClient(scope.project_id, scope.user_id, settings=settings(), timeout_s=timeout) as memory:
            return await memory.ask(
                query,
                top_k=top_k,
                threshold=threshold,
                mode=told["mode"],
                format=form,
                kinds=told["kinds"],
                history=told["history"],
                rerank=told["rerank"],
                explain=explain,
                agent_id=told["agent"],
                as_of=told["as_of"],
                known_at=told["known_at"],
                filters=filters,
            )

    reply = run(answered(work()))
    if json_lines:
        emit(reply)
        return
    for reason in reply.degraded:
        say(f"degraded: {reason}")
    if form != "results":
        print(reply.context or "", end="\n" if reply.context else "")
    if form == "results" or explain:
        show_results(reply, explain=explain)


def _how_much(told: dict[str, Any]) -> tuple[int, float]:
    """Results at most and least score: of the preset, or as the two options say."""
    if told["preset"] is None:
        return told["top_k"], told["threshold"]
    context = click.get_current_context()
    for name in ("top_k", "threshold"):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError("--preset says both --top-k and --threshold: tell it or them")
    preset = CHOICES[told["preset"]]
    return preset.top_k, preset.threshold


def show_results(reply: Reply, *, explain: bool) -> None:
    """Print the results for a person: what each says, or why each is one."""
    if not reply.results:
        say("nothing is known about that")
    elif explain:
        table(EXPLAINED, [_explained(rank, result) for rank, result in enumerate(reply.results, 1)])
    else:
        table(
            ["id", "similarity", "text", "said"],
            [[r.id, f"{r.similarity:.2f}", r.text, _minute(r.timestamp)] for r in reply.results],
        )


def _explained(rank: int, result: SearchResult) -> list[Any]:
    why = result.explanation
    if why is None:  # a worker of an older version
        return [rank, result.id, _score(result.score), _score(result.similarity), *[None] * 6, result.text]
    return [
        rank,
        result.id,
        _score(result.score),
        *map(_score, (why.semantic_score, why.keyword_score, why.hybrid_score, why.rerank_score)),
        why.passed,
        ", ".join(why.source_turn_ids),
        _version(why),
        result.text,
    ]


def _version(why: Explanation) -> str | None:
    """Which version it is, and what it replaced."""
    if why.revision is None:
        return None
    return f"{why.revision}, was: {why.old_memory}" if why.old_memory else str(why.revision)


def _score(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


COMMANDS = (ask,)
