"""Whether a symbol is to be used any more: by its own notices, else by those of its class, else of its modules.

Rule of this file: pure. One finding a symbol: what is said of the whole goes before what is said of a parameter, and
what is said of the symbol itself before what it inherits.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from lakehouse.external.notices import Notice
from lakehouse.external.releases import parsed
from lakehouse.external.source import Ref
from schemas.knowledge import Deprecation, Evidence, EvidenceKind, Extent, Status

_INHERITED: Final = 0.9
"""What a class says is of its members in most cases, and of its construction alone in some."""
_LISTED: Final = 1.0


def finding_of(
    ref: Ref,
    objects: Mapping[str, Sequence[Notice]],
    modules: Mapping[str, Sequence[Notice]],
    listed: Collection[str] = (),
    places: Mapping[str, str] = MappingProxyType({}),
) -> Deprecation | None:
    """What is known of a symbol.

    Args:
        ref: The symbol.
        objects: Notices of its page by anchor.
        modules: Notices by module: of the modules that it is in, wherever they are told of.
        listed: Modules that the documentation's own list marks as deprecated.
        places: Addresses of the pages of modules; the symbol's own page where a module is not among them.

    Returns:
        None where nothing says that it is not to be used.
    """
    own = [*objects.get(ref.anchor, ()), *(modules.get(ref.name, ()) if ref.role == "py:module" else ())]
    if ref.role == "py:module" and ref.name in listed:
        return _of_module(ref, modules.get(ref.name, ()), "symbol", "module_list", ref.url)
    whole = [notice for notice in own if notice.about == "whole"]
    if whole:
        return _finding(ref, whole, "symbol", whole[0].kind, max(notice.confidence for notice in whole))
    inherited = _of_parents(ref, objects, modules, listed, places)
    if inherited is not None:
        return inherited
    partial = [notice for notice in own if notice.about == "part"] if ref.role != "py:module" else []
    if partial:
        return _finding(ref, partial, "parameter", partial[0].kind, max(notice.confidence for notice in partial))
    return None


def parents_of(name: str) -> Iterator[str]:
    """What a symbol is in by its name, the nearest first: "a.b" and "a" of "a.b.c"."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _of_parents(
    ref: Ref,
    objects: Mapping[str, Sequence[Notice]],
    modules: Mapping[str, Sequence[Notice]],
    listed: Collection[str],
    places: Mapping[str, str],
) -> Deprecation | None:
    if not ref.role.startswith("py:"):
        return None
    for parent in parents_of(ref.name):
        whole = [notice for notice in objects.get(parent, ()) if notice.about == "whole"]
        if whole:
            return _finding(ref, whole, "class", "inherited", _INHERITED * max(one.confidence for one in whole))
        if parent in listed or any(notice.about == "whole" for notice in modules.get(parent, ())):
            kind: EvidenceKind = "module_list" if parent in listed else "inherited"
            return _of_module(ref, modules.get(parent, ()), "module", kind, places.get(parent, ref.url))
    return None


def _of_module(ref: Ref, told: Sequence[Notice], scope: Extent, kind: EvidenceKind, url: str) -> Deprecation:
    whole = [notice for notice in told if notice.about == "whole"] or list(told[:1])
    confidence = _LISTED if kind == "module_list" else _INHERITED * max(notice.confidence for notice in whole)
    return _finding(ref, whole, scope, kind, confidence).model_copy(
        update={"evidence": tuple(Evidence(kind=kind, url=url, quote=quote) for quote in _quotes(whole))}
    )


def _finding(ref: Ref, notices: Sequence[Notice], scope: Extent, kind: EvidenceKind, confidence: float) -> Deprecation:
    since = list(dict.fromkeys(notice.since for notice in notices if notice.since))
    gone = list(dict.fromkeys(notice.removed_in for notice in notices if notice.removed_in))
    removed_in = gone[0] if gone and (scope != "parameter" or len(gone) == 1) else None
    url = f"{ref.url}#{ref.anchor}" if ref.anchor else ref.url
    return Deprecation(
        project=ref.site.project,
        symbol=ref.name,
        version=ref.version,
        status=_status(notices, removed_in, ref.version),
        since=since[0] if since and (scope != "parameter" or len(since) == 1) else None,
        removed_in=removed_in,
        replacements=tuple(dict.fromkeys(name for notice in notices for name in notice.replacements)),
        scope=scope,
        evidence=tuple(Evidence(kind=kind, url=url, quote=quote) for quote in _quotes(notices)),
        confidence=round(confidence, 3),
        parts=tuple(dict.fromkeys(part for notice in notices for part in notice.parts)) if scope == "parameter" else (),
    )


def _quotes(notices: Sequence[Notice]) -> Sequence[str]:
    """Each once; one without words where a list says it alone."""
    return list(dict.fromkeys(notice.quote for notice in notices)) or [""]


def _status(notices: Sequence[Notice], removed_in: str | None, version: str | None) -> Status:
    """Removed where the documentation is of that version or a later one; else what the notice says."""
    here, gone = parsed(version), parsed(removed_in)
    if here is not None and gone is not None and here >= gone:
        return "removed"
    return notices[0].status if notices else "deprecated"
