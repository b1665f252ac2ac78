"""What one known memory says about a new fact: it agrees, is refined, or is contradicted; or nothing can be said.

Rule of this file: the verdict comes from subject, attribute, value, polarity and words; likeness only ever adds that
two wordings of equal values mean the same. Where it is not sure, it finds nothing, and the fact is kept beside the
memory.
"""

from schemas.facts import Fact
from streams.decide.arity import Arity, arity_of, is_one_by, is_replaceable
from streams.decide.opposites import opposed
from streams.decide.overlap import stem_set
from streams.decide.paraphrase import paraphrase
from streams.decide.preferences import preference
from streams.decide.retelling import denied, over, reported, retold
from streams.decide.subjects import same_attribute, same_subject, same_thing
from streams.decide.types import Finding, Neighbour
from streams.decide.values import Relation, is_quantity, loses_nothing, qualifies, relation
from streams.decide.words import STOP, UNSPACED_NEGATIONS, corrects, label_of, words_of

MAX_REASON_WORDS = 16
LIKELY = 0.9
"""Cosine from which two texts with the same words of content are one statement though no grammar could read them."""


def find(fact: Fact, neighbour: Neighbour, threshold: float) -> Finding | None:
    """Hold a fact against a memory.

    Args:
        fact: The new fact.
        neighbour: The memory.
        threshold: Cosine from which likeness counts, 0 … 1.
    """
    if same_text(fact.text, neighbour.text):
        return Finding(neighbour, "agrees", 1.0, "the same text is known")
    found = _compared(fact, neighbour, threshold)
    if stem_set(fact.text, fact.language).isdisjoint(stem_set(neighbour.text, fact.language)):
        return found
    if found is None or found.verdict == "contradicts":
        # Another word for the value is no other value; and of all that it contradicts, it may name what it replaces.
        found = paraphrase(fact, neighbour) or reported(fact, neighbour) or found
    return (
        found
        or denied(fact, neighbour)
        or over(fact, neighbour)
        or preference(fact, neighbour)
        or retold(fact, neighbour)
    )


def _compared(fact: Fact, neighbour: Neighbour, threshold: float) -> Finding | None:
    """By subject, attribute and value where both have them; else by their words."""
    if fact.attribute and neighbour.attribute and fact.subject and neighbour.subject:
        if not same_subject(fact.subject, neighbour.subject):
            changed = _changed_part(fact, neighbour) or _cut_otherwise(fact, neighbour)
            return changed or _by_likeness(fact, neighbour, threshold)
        if same_attribute(fact.attribute, neighbour.attribute) and fact.attribute != "change":
            return _same_attribute(fact, neighbour)
        found = _by_claim(fact, neighbour)
        if found is not None:
            return found
        return _by_words(fact, neighbour, threshold) or _by_likeness(fact, neighbour, threshold)
    return _by_words(fact, neighbour, threshold)


def same_text(one: str, other: str) -> bool:
    """Whether two texts are the same but for case, blanks, punctuation and the spelling of numbers."""
    return one == other or (words_of(one).all == words_of(other).all and bool(words_of(one).all))


def _by_claim(fact: Fact, known: Neighbour) -> Finding | None:
    """One subject and two attributes: one of them a change, or one the opposite of the other."""
    if fact.value is None or known.value is None:
        return None
    attribute, other = fact.attribute or "", known.attribute or ""
    if "change" in (attribute, other):
        return _changed_thing(fact, known)
    if (
        fact.polarity == known.polarity
        and _opposed_attributes(attribute, other)
        and relation(fact.value, known.value) is Relation.EQUAL
    ):
        return Finding(known, "contradicts", 0.85, f"{attribute} is the opposite of {other}")
    return None


def _opposed_attributes(one: str, other: str) -> bool:
    """Whether one is the opposite of the other, whatever preposition it takes: "is up to date with", "is due for"."""
    mine, theirs = one.split(), other.split()
    if opposed(mine, theirs) is not None:
        return True
    return mine[-1] in STOP and theirs[-1] in STOP and opposed(mine[:-1], theirs[:-1]) is not None


def _same_attribute(fact: Fact, known: Neighbour) -> Finding | None:  # noqa: PLR0911 - a ladder of tests
    value, old = fact.value or "", known.value or ""
    told = f"{fact.subject}: {fact.attribute}"
    how = relation(value, old)
    if (
        how in {Relation.MORE, Relation.LESS}
        and arity_of(fact.attribute or "") is not Arity.ONE
        and not qualifies(value, old)
    ):
        how = Relation.OTHER
    if fact.polarity != known.polarity:
        taken_back = how is Relation.EQUAL or (how is Relation.LESS and fact.polarity == "negative")
        return Finding(known, "contradicts", 0.9, f"{told} {value!r} is now {_sign(fact)}") if taken_back else None
    if how is Relation.EQUAL:
        return Finding(known, "agrees", 0.95, f"{told} {value!r} is known")
    if how is Relation.OPPOSITE:
        return Finding(known, "contradicts", 0.9, f"{told} {value!r} is the opposite of {old!r}")
    if how is Relation.MORE:
        return _more(fact, known, value, old)
    if fact.polarity == "negative":
        return None
    if how is Relation.LESS:
        return Finding(known, "agrees", 0.85, f"{told} {old!r} says it already")
    return _other_value(fact, known, how, told)


def _more(fact: Fact, known: Neighbour, value: str, old: str) -> Finding | None:
    if not loses_nothing(fact.text, known.text) and relation(fact.text, known.text) is not Relation.MORE:
        return Finding(known, "contradicts", 0.8, f"{fact.subject}: {fact.attribute} {old!r} became {value!r}")
    return Finding(known, "refines", 0.9, _added(fact.text, known.text))


def _sign(fact: Fact) -> str:
    return "so" if fact.polarity == "affirmative" else "not so"


def _added(new: str, old: str) -> str:
    """What a fuller text says more: what follows the old one, or else the words that are new."""
    told, before = new.split(), words_of(old).all
    for count in range(len(told), 0, -1):
        if words_of(" ".join(told[:count])).all == before:
            more = told[count:]
            break
    else:
        known = set(before)
        more = [word for word in told if not set(words_of(word).all) <= known]
    text = " ".join(more[:MAX_REASON_WORDS]).strip(".,;:!?() ")
    return f"Enhanced with: {text or 'more detail'}"


def _other_value(fact: Fact, known: Neighbour, how: Relation, told: str) -> Finding | None:
    """The value differs: whether the new one takes the place of the old."""
    value, old = fact.value or "", known.value or ""
    arity = Arity.ONE if is_one_by(fact.subject or "", fact.attribute or "") else arity_of(fact.attribute or "")
    reason = f"{told} {old!r} became {value!r}"
    if corrects(fact.text):
        return Finding(known, "contradicts", 0.9, f"corrected: {reason}")
    if arity is Arity.ONE:
        return Finding(known, "contradicts", 0.9, reason)
    if arity is Arity.EVENT:
        return None
    if arity is Arity.MANY:
        placed = fact.attribute == "is" and how in {Relation.NUMBER, Relation.TIME}
        counted = placed or (how is Relation.NUMBER and is_quantity(value) and is_quantity(old))
        moved = words_of(fact.text).changes and (
            how is Relation.TIME or (how is Relation.NAME and is_replaceable(fact.attribute or ""))
        )
        return Finding(known, "contradicts", 0.8, reason) if counted or moved else None
    if how in {Relation.NUMBER, Relation.TIME} or words_of(fact.text).changes:
        return Finding(known, "contradicts", 0.85, reason)
    return None


def _changed_part(fact: Fact, known: Neighbour) -> Finding | None:
    """It was changed to a value, and one calls "the user's goal" what the other calls the user and its goal."""
    attributes = (fact.attribute or "", known.attribute or "")
    if "change" not in attributes or fact.value is None or known.value is None:
        return None
    if not same_thing(fact.subject or "", attributes[0], known.subject or "", attributes[1]):
        return None
    return _changed_thing(fact, known, named=True)


def _cut_otherwise(fact: Fact, known: Neighbour) -> Finding | None:
    """One calls "the user's desk" what the other calls the user and its desk, and they differ in a number or a time."""
    attributes = (fact.attribute or "", known.attribute or "")
    if fact.polarity != known.polarity or sum(word.startswith("is") for word in attributes) != 1:
        return None
    if not same_thing(fact.subject or "", attributes[0], known.subject or "", attributes[1]):
        return None
    value, old = fact.value or "", known.value or ""
    if relation(value, old) not in {Relation.NUMBER, Relation.TIME}:
        return None
    return Finding(known, "contradicts", 0.8, f"{fact.subject}: {old!r} became {value!r}")


def _changed_thing(fact: Fact, known: Neighbour, *, named: bool = False) -> Finding | None:
    """It was changed to a value: that meets what is known of the same thing with the same kind of value.

    Args:
        fact: One of the two tells the change.
        known: The other.
        named: Whether what was changed is the attribute itself, rather than the thing that has it.
    """
    value, old = fact.value or "", known.value or ""
    other = known.attribute if fact.attribute == "change" else fact.attribute
    how = relation(value, old)
    if fact.polarity == known.polarity == "affirmative" and not (other or "").startswith("did "):
        if how is Relation.EQUAL:
            return Finding(known, "agrees", 0.85, f"{fact.subject} {value!r} is known")
        if how in {Relation.NUMBER, Relation.TIME} or (other == "change" and how is not Relation.OTHER):
            return Finding(known, "contradicts", 0.85, f"{fact.subject}: {old!r} became {value!r}")
        tells = fact.attribute == "change" or words_of(fact.text).changes
        if how in {Relation.NAME, Relation.OPPOSITE} and (named or (tells and is_replaceable(other or ""))):
            return Finding(known, "contradicts", 0.75, f"{fact.subject}: {old!r} became {value!r}")
    return None


def _by_likeness(fact: Fact, known: Neighbour, threshold: float) -> Finding | None:
    """Two wordings of one statement: equal value, same polarity, one thing, and alike enough."""
    if round(known.similarity, 4) < threshold or fact.polarity != known.polarity:
        return None
    if fact.value is None or known.value is None or relation(fact.value, known.value) is not Relation.EQUAL:
        return None
    fresh, old = words_of(fact.text), words_of(known.text)
    if fresh.numbers != old.numbers:
        return None
    if not _may_paraphrase(fact, known):
        return None
    reason = f"told in other words (similarity {known.similarity:.2f})"
    return Finding(known, "agrees", round(known.similarity * 0.95, 4), reason, "similarity")


def _may_paraphrase(fact: Fact, known: Neighbour) -> bool:
    """Whether two attributes can be two words for one: of one thing, and nothing is known against it.

    "Lives in Graz" and "works in Graz" are alike and have one value, yet they are two statements: where the subject is
    the same, both attributes must be open and the value must hold a number, which rarely fits twice by chance.
    """
    if same_subject(fact.subject, known.subject):
        are_open = arity_of(fact.attribute or "") is Arity.OPEN is arity_of(known.attribute or "")
        return are_open and bool(words_of(fact.value or "").numbers)
    return same_thing(fact.subject or "", fact.attribute or "", known.subject or "", known.attribute or "")


def _by_words(fact: Fact, known: Neighbour, threshold: float) -> Finding | None:
    """No common grammar: the words themselves."""
    fresh, old = words_of(fact.text), words_of(known.text)
    mine, theirs = fresh.content, old.content
    if not mine or not theirs:
        return None
    flipped = fresh.negative != old.negative or fact.polarity != known.polarity
    if fact.polarity != known.polarity:
        mine, theirs = (tuple(word for word in words if word not in UNSPACED_NEGATIONS) for words in (mine, theirs))
    if mine == theirs or (sorted(mine) == sorted(theirs) and _order_free(fact, known)):
        if flipped:
            return Finding(known, "contradicts", 0.85, f"now {_sign(fact)}")
        return Finding(known, "agrees", 0.85, "the same words are known")
    if flipped or round(known.similarity, 4) < threshold:
        return None
    pair = opposed(fresh.plain, old.plain) or opposed(mine, theirs)
    if pair is not None:
        return Finding(known, "contradicts", 0.8, f"{pair[0]!r} is the opposite of {pair[1]!r}")
    return _by_extent(fact, known, mine, theirs)


def _by_extent(fact: Fact, known: Neighbour, mine: tuple[str, ...], theirs: tuple[str, ...]) -> Finding | None:
    """One text begins with all that the other says; under another label it says it of something else."""
    if label_of(fact.text) != label_of(known.text):
        return None
    if mine[: len(theirs)] == theirs:
        return Finding(known, "refines", 0.8, _added(fact.text, known.text), "similarity")
    within = set(mine) <= set(theirs) and known.similarity >= LIKELY and _order_free(fact, known)
    if theirs[: len(mine)] == mine or within:
        reason = f"it says no more than is known (similarity {known.similarity:.2f})"
        return Finding(known, "agrees", 0.8, reason, "similarity")
    return None


def _order_free(fact: Fact, known: Neighbour) -> bool:
    """Whether the order of words cannot have turned the sense: both subjects are known, and are one."""
    return same_subject(fact.subject, known.subject)
