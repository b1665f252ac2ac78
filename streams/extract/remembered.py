"""Answers of pure functions kept for short texts: a sentence is read as itself, as its neighbour's context, and again.

Rule of this file: it changes how often something is worked out, never what comes out. Long texts are not kept, so that
what is kept is bounded.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

MAX_CHARACTERS: Final = 300
"""Of a text whose answer is kept."""
SIZE: Final = 2048
"""Answers kept of one function."""
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def remembered(
    function: Callable[Concatenate[str, Arguments], Result],
) -> Callable[Concatenate[str, Arguments], Result]:
    """Keep the answers of a pure function of a text, whose arguments and answers are frozen."""
    kept = lru_cache(maxsize=SIZE)(function)

    @wraps(function)
    def call(text: str, /, *arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        if len(text) > MAX_CHARACTERS:
            return function(text, *arguments, **options)
        answer: Result = kept(text, *arguments, **options)  # type: ignore[arg-type] # texts and flags are hashable
        return answer

    return call
