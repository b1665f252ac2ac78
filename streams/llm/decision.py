"""What a fact does to what is known, by a model's proposal within what the rules allow.

Rule of this file: pure; the first answer and a recorded one are read by the same functions. The rules decide first, and
what they find stands. Where they find nothing, a proposal counts unless it would lose something that was told.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from schemas.answers import ModelAnswer
from schemas.facts import Fact
from schemas.memory import Event
from streams.decide.arity import Arity, arity_of
from streams.decide.decide import decide
from streams.decide.subjects import same_subject, same_thing
from streams.decide.types import Decision, DecisionOptions, Neighbour
from streams.decide.values import Relation, loses_nothing, relation
from streams.decide.words import words_of
from streams.llm.failures import degraded
from streams.llm.grounding import details_of
from streams.llm.prompts import Question, decision_question, prompt_id
from streams.llm.shapes import ToldDecision, recalled_decision

AGREEMENT: Final = 0.3
"""Share of the doubt that is taken away where model and rules agree."""
DISAGREEMENT: Final = 0.85
"""What the rules' confidence is multiplied with where the model says something else."""
ALONE: Final = 0.75
"""What a proposal's confidence is multiplied with that no rule supports."""
LIKELY: Final = 0.9
"""Cosine from which two statements of one subject and one value are taken for one, if a model says so."""
ELSE: Final = "it is about something else"


@dataclass(frozen=True)
class Case:
    """A fact that a model is asked about.

    Attributes:
        rule: What the rules decide: it stands if the model stays silent.
        shown: The memories that the model sees, numbered from 0.
        threshold: Cosine from which likeness counts, 0 … 1.
    """

    fact: Fact
    rule: Decision
    shown: tuple[Neighbour, ...]
    threshold: float

    @property
    def question(self) -> Question:
        """What is asked."""
        return decision_question(self.fact.text, [known.text for known in self.shown])

    @property
    def prompt(self) -> str:
        """Id of the prompt with a fingerprint of all that is asked."""
        return prompt_id("decision", [self.fact.text, *(known.text for known in self.shown)])


def case_of(fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions, rule: Decision) -> Case | None:
    """The case for a model, or None where the rules need none.

    A request to forget is the rules' alone, a text that is known is known, and where nothing is alike nor about the
    same, there is nothing to choose from.

    Args:
        fact: The new fact.
        neighbours: What the rules were shown.
        options: Thresholds and permissions.
        rule: What the rules decided.
    """
    if fact.mood == "retraction":
        return None
    by_id = {known.id: known for known in neighbours}
    if rule.target is not None and words_of(by_id[rule.target].text).all == words_of(fact.text).all:
        return None
    ids = [rule.target, *(memory_id for memory_id, _ in rule.candidates)]
    ids += [known.id for known in sorted(neighbours, key=_rank) if _of_same_claim(fact, known)]
    shown = [by_id[memory_id] for memory_id in dict.fromkeys(ids) if memory_id is not None]
    if not shown:
        return None
    return Case(fact, rule, tuple(shown[: options.max_similar_results]), options.similarity_threshold)


def _rank(known: Neighbour) -> tuple[float, int]:
    return -round(known.similarity, 4), known.id


def _of_same_claim(fact: Fact, known: Neighbour) -> bool:
    return fact.attribute is not None and (fact.subject, fact.attribute) == (known.subject, known.attribute)


def settled(case: Case, told: ModelAnswer) -> Decision:
    """The decision, with a model's answer.

    Args:
        case: What was asked.
        told: What the model said, first-hand or recorded; or why it said nothing.

    Raises:
        AnswerInvalid: The recorded answer is none of ours.
    """
    if told.answer is None:
        return replace(case.rule, model=told)
    verdict = recalled_decision(told.answer, len(case.shown))
    if verdict.event == "DELETE":  # nobody asked to forget: a fact that does never gets here
        return replace(case.rule, model=told.model_copy(update={"degraded": degraded("delete not asked for")}))
    known = case.shown[verdict.target] if verdict.target is not None else None
    if verdict.event == "NONE" and known is not None and _says_more(case.fact, known):
        verdict = verdict.model_copy(update={"event": "UPDATE"})
    if _agrees(case.rule, verdict.event, known):
        return _confirmed(case, verdict, told)
    if known is None or case.rule.target is not None:
        return _overruled(case, verdict, told, "the rules are sure")
    against = _reason_against(case, verdict.event, known)
    return _overruled(case, verdict, told, against) if against else _proposed(case, verdict, told, known)


def decide_recorded(
    fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions, told: ModelAnswer | None
) -> Decision:
    """Decide again as it was decided, without a model.

    Args:
        fact: The fact.
        neighbours: What is known.
        options: Thresholds and permissions.
        told: What was recorded with the decision; None where no model was asked.

    Returns:
        The recorded decision; where another question would be asked, what the rules decide, marked.

    Raises:
        AnswerInvalid: The recorded answer is none of ours.
    """
    rule = decide(fact, neighbours, options)
    case = None if told is None else case_of(fact, neighbours, options, rule)
    if case is None or told is None:
        return rule
    if told.prompt != case.prompt:
        told = ModelAnswer(model=told.model, prompt=case.prompt, degraded=degraded("no recorded answer"))
    return settled(case, told)


def _says_more(fact: Fact, known: Neighbour) -> bool:
    """Whether a fact that is taken for known says all that the memory says, and more."""
    more = set(words_of(fact.text).content) - set(words_of(known.text).content)
    return bool(more) and loses_nothing(fact.text, known.text) and not _is_another_thing(fact, known)


def _agrees(rule: Decision, event: Event, known: Neighbour | None) -> bool:
    """Whether the model says what the rules say; a change of what only the caller holds is an ADD."""
    if rule.event == "ADD":
        return event == "ADD" or (event == "UPDATE" and known is not None and known.id < 0)
    return event == rule.event and known is not None and known.id == rule.target


def _reason_against(case: Case, event: Event, known: Neighbour) -> str | None:
    """Why a fact about which the rules found nothing is kept beside a memory; None where the proposal loses nothing."""
    if event == "NONE":
        return _reason_against_none(case, known)
    return "only the caller holds it" if known.id < 0 else _reason_against_update(case, known)


def _reason_against_none(case: Case, known: Neighbour) -> str | None:
    """Why a fact cannot count as known: it says something that the memory does not say."""
    fact = case.fact
    mine, theirs = words_of(fact.text), words_of(known.text)
    if mine.negative != theirs.negative or fact.polarity != known.polarity:
        return "one of them is negative"
    if details_of(fact.text) - set(theirs.all):
        return "a name or a number would be lost"
    if _is_another_thing(fact, known):
        return ELSE
    if _is_same_value(fact, known):
        return None
    return None if set(mine.content) <= set(theirs.content) else "some of it would be lost"


def _is_another_thing(fact: Fact, known: Neighbour) -> bool:
    """Whether both were read, and are about two things."""
    if not (fact.subject and fact.attribute and known.subject and known.attribute):
        return False
    same = same_thing(fact.subject, fact.attribute, known.subject, known.attribute)
    return not same_subject(fact.subject, known.subject) and not same


def _is_same_value(fact: Fact, known: Neighbour) -> bool:
    """Whether both were read, of one subject and with one value, and are so alike that they may be two wordings."""
    if not (fact.value and known.value and same_subject(fact.subject, known.subject)):
        return False
    is_alike = round(known.similarity, 4) >= LIKELY
    return is_alike and relation(fact.value, known.value) is Relation.EQUAL


def _reason_against_update(case: Case, known: Neighbour) -> str | None:
    """Why a memory cannot give way to a fact: it is about something else, or more values than one can hold."""
    fact = case.fact
    if _is_another_thing(fact, known):
        return ELSE
    if loses_nothing(fact.text, known.text):
        return None
    if not (fact.subject and fact.attribute and known.subject and known.attribute):
        is_alike = round(known.similarity, 4) >= case.threshold and _opens_alike(fact.text, known.text)
        return None if is_alike else "it is not alike enough"
    if same_subject(fact.subject, known.subject) and fact.attribute != known.attribute:
        return "it is about another property"
    if fact.polarity == known.polarity and arity_of(fact.attribute) in {Arity.MANY, Arity.EVENT}:
        return "both can be so"
    return None


def _opens_alike(new: str, old: str) -> bool:
    """Whether the first word of content of each stands in the other: most often it says what a statement is about."""
    fresh, known = words_of(new).content, words_of(old).content
    return bool(fresh and known) and fresh[0] in known and known[0] in fresh


def _confirmed(case: Case, verdict: ToldDecision, told: ModelAnswer) -> Decision:
    rule = case.rule
    confidence = round(1 - (1 - rule.confidence) * (1 - AGREEMENT), 2)
    return replace(
        rule,
        confidence=confidence,
        reasoning=_worded(rule.reasoning, "The model agrees", verdict.reasoning),
        quality_source="llm",
        candidates=_candidates(case),
        model=told,
    )


def _overruled(case: Case, verdict: ToldDecision, told: ModelAnswer, against: str) -> Decision:
    rule = case.rule
    return replace(
        rule,
        confidence=round(rule.confidence * DISAGREEMENT, 2),
        reasoning=f"{rule.reasoning} The model proposed {verdict.event}, but {against}.",
        candidates=_candidates(case),
        model=told,
    )


def _proposed(case: Case, verdict: ToldDecision, told: ModelAnswer, known: Neighbour) -> Decision:
    """What the model proposes, with a confidence of ours: by likeness and by how sure the fact is."""
    fact = case.fact
    confidence = round(ALONE * known.similarity * (0.6 + 0.4 * fact.confidence), 2)
    text = known.text if verdict.event == "NONE" else fact.text
    reasoning = _worded("By the model alone.", "It says", verdict.reasoning)
    return Decision(verdict.event, known.id, text, confidence, reasoning, "llm", _candidates(case), told)


def _worded(own: str, opening: str, said: str) -> str:
    """A reasoning of ours with what the model says of itself, which is quoted and no more than that."""
    return f'{own} {opening}: "{said}"' if said else own


def _candidates(case: Case) -> tuple[tuple[int, float], ...]:
    return tuple((known.id, round(known.similarity, 4)) for known in case.shown)
