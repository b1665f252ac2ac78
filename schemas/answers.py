"""What a language model was asked and what it said: kept, so that no replay needs to ask it again."""

from schemas.message import Part


class ModelAnswer(Part):
    """One answer of a model, as it was understood, or why there is none."""

    model: str
    """As the endpoint was asked for it."""
    prompt: str
    """Name and version of the prompt, and a fingerprint of all that was asked: an answer is one to that alone."""
    answer: str | None = None
    """JSON in canonical form, secrets masked."""
    degraded: str | None = None
    """Why rules answered instead, wholly or in part."""
    tokens_in: int = 0
    tokens_out: int = 0
