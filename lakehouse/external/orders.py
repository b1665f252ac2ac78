"""Whether a text speaks like orders to its reader, which documentation of code does not.

Rule of this file: pure. It is a sign and no barrier: what it passes over is data all the same. The patterns are data
(``orders.yaml``).
"""

import re
from typing import Final

from lakehouse.ruledata import load_data
from schemas.knowledge import Document

ORDERS: Final = "orders"
"""Flag of a document that speaks so."""
_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in load_data("lakehouse.external", "orders")["orders"]
)


def gives_orders(text: str) -> bool:
    """Whether a text holds a phrase that gives its reader orders."""
    return any(pattern.search(text) for pattern in _PATTERNS)


def marked(document: Document) -> Document:
    """The document, with the flag where its title or text gives orders."""
    if ORDERS in document.flags or not gives_orders(f"{document.title}\n{document.text}"):
        return document
    return document.model_copy(update={"flags": (*document.flags, ORDERS)})
