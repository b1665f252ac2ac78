"""Commands about documentation: get, search, refresh, deprecations, and how it was used.

Rule of this file: the tables are read here, hosts are asked by the worker. What it could not have is told in its words.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

import click

from schemas.errors import MemlakeError
from streams.cli import usage
from streams.cli.migrate import migrate
from streams.cli.options import Number, as_json, emit, run, say, settings, table

PREVIEW = 120
POLL_S = 0.1
LIMIT = 50
waits = click.option("--timeout", type=Number(min=0.1), default=15.0, show_default=True, help="Seconds to wait.")


@click.group()
def knowledge() -> None:
    """Documentation from outside: it advises, and never becomes a memory."""


@knowledge.command()
@click.argument("project")
@click.argument("symbol")
@click.option("--version", metavar="TEXT", help="Of the project; the newest that is kept where not given.")
@waits
@as_json
def get(project: str, symbol: str, version: str | None, timeout: float, json_lines: bool) -> None:
    """Show what the documentation of PROJECT says of SYMBOL; it is asked for where it is not kept."""

    async def work() -> Any:
        from lakehouse.external.store import DocumentStore

        store = await DocumentStore.open(settings().lake_uri)
        found = await store.find(symbol, project.casefold(), version)
        if not found:
            await _ask(store, symbol=symbol, project=project.casefold(), version=version, timeout_s=timeout)
            found = await store.find(symbol, project.casefold(), version)
        if not found:
            raise MemlakeError(f"nothing is known of {symbol} of {project}: its page tells nothing of it")
        return found[0], await store.deprecations_of(project.casefold(), [found[0].row.document.name])

    found, deprecations = run(work())
    _show(found, deprecations, version, json_lines=json_lines)


@knowledge.command()
@click.argument("query")
@click.option("--project", metavar="NAME", help="Only documents of this project.")
@click.option("--limit", type=click.IntRange(1, LIMIT), default=5, show_default=True, help="Documents at most.")
@as_json
def search(query: str, project: str | None, limit: int, json_lines: bool) -> None:
    """Find documents about QUERY among those that are kept."""

    async def work() -> list[Any]:
        from lakehouse.embedding import load_embedder
        from lakehouse.external.scoring import most_relevant
        from lakehouse.external.store import DocumentStore

        told = settings()
        store = await DocumentStore.open(told.lake_uri)
        model = await load_embedder(told.embedder, told.cache, threads=told.embedder_threads, cache_size=0)
        try:
            (vector,) = await model.embed([query])
        finally:
            await model.close()
        found = await store.search(query, vector, project=project and project.casefold())
        return most_relevant(found, floor=0.0, now=datetime.now(UTC), limit=limit)

    found = run(work())
    if json_lines:
        for one in found:
            emit({**one.doc.document.to_wire(), "similarity": one.similarity, "score": one.score})
        return
    if not found:
        say("nothing that is kept is about that")
        return
    columns = ["score", "similarity", "project", "version", "symbol", "summary"]
    table(columns, [[f"{one.score:.2f}", f"{one.similarity:.2f}", *_cells(one.doc.document)] for one in found])


@knowledge.command()
@click.argument("what", metavar="URL|SYMBOL")
@click.option("--project", metavar="NAME", help="Whose symbol it is.")
@waits
@as_json
def refresh(what: str, project: str | None, timeout: float, json_lines: bool) -> None:
    """Ask for a page again, by its address or by a symbol that it tells of."""

    async def work() -> Any:
        from lakehouse.external.store import DocumentStore

        store = await DocumentStore.open(settings().lake_uri)
        if "://" in what:
            return await _ask(store, url=_address(what), timeout_s=timeout)
        kept = await store.find(what, project and project.casefold())
        if kept:
            return await _ask(store, url=kept[0].row.document.page_url, timeout_s=timeout)
        return await _ask(store, symbol=what, project=(project or "").casefold(), timeout_s=timeout)

    state = run(work())
    emit(state) if json_lines else say(f"{state.url}: looked at {state.checked_at:%Y-%m-%d %H:%M:%S}")


@knowledge.command()
@click.argument("symbols", metavar="[SYMBOL]...", nargs=-1)
@click.option("--project", metavar="NAME", help="Only findings of this project.")
@as_json
def deprecations(symbols: tuple[str, ...], project: str | None, json_lines: bool) -> None:
    """List what is not to be used any more, as documentation, changelogs and issues say."""

    async def work() -> list[Any]:
        from lakehouse.external.store import DocumentStore

        store = await DocumentStore.open(settings().lake_uri)
        whose = project and project.casefold()
        if symbols:
            return await store.deprecations_of(whose, symbols)
        return [one for one in await store.findings() if whose in {None, one.project}]

    found = run(work())
    if json_lines:
        for one in found:
            emit(one)
        return
    if not found:
        say("nothing that is kept says so: `memlake knowledge get PROJECT SYMBOL` looks a symbol up")
        return
    columns = ["project", "symbol", "status", "since", "removed in", "instead", "about", "sure", "because"]
    table(columns, [_finding(one) for one in found])


def _finding(one: Any) -> list[Any]:
    quote = one.evidence[0].quote[:PREVIEW] if one.evidence else ""
    instead, sure = ", ".join(one.replacements), f"{one.confidence:.0%}"
    return [
        one.project, one.symbol, one.status, one.since, one.removed_in, instead, one.scope, sure, quote,
    ]  # fmt: skip


def _cells(document: Any) -> list[Any]:
    return [document.project, document.version, document.name, document.summary[:PREVIEW]]


def _show(found: Any, deprecations: list[Any], version: str | None, *, json_lines: bool) -> None:
    row = found.row
    told = row.document
    if json_lines:
        extra = {"checkedAt": row.checked_at.isoformat(), "accessCount": row.access_count, "fits": found.fits}
        emit({**told.to_wire(), **extra, "deprecations": [one.to_wire() for one in deprecations]})
        return
    if not found.fits:
        say(f"of version {told.version}, not {version}")
    for one in deprecations:
        say(" ".join(str(cell) for cell in _finding(one)[1:6] if cell))
    print(f"{told.title}  [{told.project} {told.version or ''}]".rstrip())
    print(told.text)
    where = f"{told.page_url}#{told.anchor}" if told.anchor else told.page_url
    say(f"{where} ({told.licence or told.source}), as of {row.checked_at:%Y-%m-%d}")


def _address(told: str) -> str:
    """The address in the form under which a page is kept; one that is none, or holds a password, is sent to nobody."""
    from lakehouse.external.origins import Refused, canonical_url

    try:
        return canonical_url(told)
    except Refused as error:
        raise MemlakeError(str(error)) from error


async def _ask(
    store: Any,
    *,
    timeout_s: float,
    url: str | None = None,
    symbol: str | None = None,
    project: str = "",
    version: str | None = None,
) -> Any:
    """Have the worker look at a page; what is known of it then.

    Raises:
        MemlakeError: It could not be had, with the reason, or nobody looked in time.
    """
    from lakehouse.external.library import symbol_url
    from schemas.knowledge import RefreshRequest
    from streams.deployment import running_broker
    from streams.refreshing import refresh_of
    from streams.wire import Outbox

    now, told = datetime.now(UTC), settings()
    if not told.docs.strip(" ,"):
        raise MemlakeError(
            "no documentation is configured: name its sites in MEMLAKE_DOCS, as `memlake settings` tells"
        )
    place = url or symbol_url(project or None, symbol or "")
    wanted = {"url": place, "source": "", "project": project, "version": version, "symbol": symbol}
    request = RefreshRequest.from_wire({**wanted, "reason": "asked", "requested_at": now})
    with running_broker(told) as bootstrap:
        outbox = await Outbox(told, bootstrap, "cli").start()
        try:
            await outbox.send([refresh_of(request, outbox.source)])
        finally:
            await outbox.stop()
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                state = await _looked_at(store, place, symbol, project, version, now)
                if state is not None:
                    return state
                await asyncio.sleep(POLL_S)
    except TimeoutError as error:
        raise MemlakeError(f"nobody looked at it within {timeout_s:g} s: is a worker running?") from error


async def _looked_at(
    store: Any, place: str, symbol: str | None, project: str, version: str | None, since: datetime
) -> Any:
    """What is known of a page that was looked at since; None where it was not.

    Raises:
        MemlakeError: It could not be had.
    """
    if symbol is not None:
        found = await store.find(symbol, project or None, version)
        if found and found[0].row.checked_at >= since:
            return await store.page(found[0].row.document.page_url)
    state = await store.page(place)
    if state is None:
        return None
    told = state.negative_until is not None and state.negative_until > since
    if told and (state.checked_at is None or state.checked_at >= since or state.reason):
        raise MemlakeError(f"{symbol or place}: {state.reason or 'it could not be had'}")
    return state if state.checked_at is not None and state.checked_at >= since and symbol is None else None


knowledge.add_command(usage.report)
knowledge.add_command(migrate)
COMMANDS = (knowledge,)
