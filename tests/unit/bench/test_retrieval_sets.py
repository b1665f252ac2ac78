"""Each set on a made-up sample of its format: which turns can be found, what is asked of them, what is gold."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from streams.bench.folder import Sets, sets_in
from streams.bench.retrieval import beam, locomo, longmemeval
from streams.bench.retrieval.cases import Change, Question, Unit

SAMPLES = Path(__file__).parents[2] / "data" / "retrieval"
FILES = sets_in(SAMPLES)


def gold(unit: Unit, question: Question) -> list[str]:
    """The texts that hold the answer, in the order in which they were said."""
    return [turn.content for turn in unit.turns if turn.turn_id in question.turns]


def test_each_kind_is_found_by_its_shape() -> None:
    expected = Sets(
        chats=(SAMPLES / "chats" / "9",),
        conversations=(SAMPLES / "talks.json",),
        haystacks=(SAMPLES / "haystack.json", SAMPLES / "haystacks.json"),
    )

    assert expected == FILES


def test_corrected_labels_alone_are_a_set_like_any_other(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "talks.corrected.json", tmp_path)

    assert sets_in(tmp_path) == Sets(conversations=(tmp_path / "talks.corrected.json",))


@pytest.mark.parametrize("text", ['[{"conversation": []}]', '[{"qa": []}]', '{"question_id": "question_type"}'])
def test_what_only_begins_like_one_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)

    assert sets_in(tmp_path) == Sets()


class TestConversations:
    (unit,) = locomo.units_of(FILES.conversations)

    def test_turns_stand_in_the_order_of_their_sessions_and_say_what_a_picture_shows(self) -> None:
        assert [turn.name for turn in self.unit.turns] == ["Odalys", "Perrin", "Odalys", "Perrin"]
        assert self.unit.turns[1].content == "I grow orchids in the greenhouse.\n[image: a row of purple orchids]"
        assert self.unit.name == self.unit.turns[0].scope.user_id == "pair-1"

    def test_evidence_is_found_however_it_is_spelled(self) -> None:
        told = {question.category: gold(self.unit, question) for question in self.unit.questions[:3]}

        assert [len(texts) for texts in told.values()] == [1, 2, 1]
        assert told["multi-hop"][1] == "The greenhouse burned down last night."
        assert told["temporal"] == ["I play the zither on Tuesdays."]

    def test_a_question_without_evidence_is_left_out_and_an_adversarial_one_stands_apart(self) -> None:
        asked = [question for question in self.unit.questions if question.of == "locomo"]

        assert [(question.category, question.counts) for question in asked] == [
            ("single-hop", True), ("multi-hop", True), ("temporal", True), ("adversarial", False),
        ]  # fmt: skip

    def test_questions_are_asked_at_the_end(self) -> None:
        assert {question.asked_at for question in self.unit.questions} == {datetime(2024, 3, 3, 9, 5, tzinfo=UTC)}

    def test_corrected_labels_beside_are_asked_as_well(self) -> None:
        (other,) = (question for question in self.unit.questions if question.of == "locomo_corrected")

        assert gold(self.unit, other) == ["My goat Bramble won a ribbon at the fair."]


class TestHaystacks:
    update, assistant = longmemeval.units_of(FILES.haystacks)

    def test_only_what_the_user_said_can_be_found(self) -> None:
        assert [turn.content for turn in self.update.turns] == [
            "My hive has 300 bees.", "Please write a poem about rain.", "My hive has 900 bees now.",
        ]  # fmt: skip

    def test_the_newer_statement_is_that_of_the_last_session(self) -> None:
        (question,) = self.update.questions
        old, _, new = (turn.turn_id for turn in self.update.turns)

        assert question.change == Change(frozenset({old or ""}), frozenset({new or ""}))
        assert question.sessions == {"old", "new"}
        assert question.asked_at == datetime(2024, 5, 1, 10, tzinfo=UTC)

    def test_where_the_assistant_answered_only_sessions_count(self) -> None:
        (question,) = self.assistant.questions

        assert (question.turns, question.change) == (frozenset(), None)
        assert question.sessions == {"rain"}

    def test_a_question_without_an_answer_is_left_out(self) -> None:
        assert {self.update.name, self.assistant.name} == {"q-update", "q-assistant"}

    def test_statements_of_one_session_are_no_change(self) -> None:
        assert longmemeval.change_of([self.update.turns[0]], "300") is None
        assert longmemeval.change_of([], "300") is None

    def test_a_question_for_what_was_said_before_asks_for_no_current_value(self) -> None:
        old, _, new = self.update.turns

        assert longmemeval.change_of([old, new], "300 bees") is None
        assert longmemeval.change_of([old, new], 900) is not None
        assert longmemeval.change_of([old, new], "many") is not None


class TestChats:
    (unit,) = beam.units_of(FILES.chats)

    def test_the_users_messages_lose_the_marks_of_the_plan_and_have_the_dates_of_their_batches(self) -> None:
        assert [(turn.content, turn.session_id, turn.timestamp.date().isoformat()) for turn in self.unit.turns] == [
            ("The port of the proxy is 8080.", "batch 0", "2024-03-15"),
            ("My deadline is in June.", "batch 0", "2024-03-15"),
            ("The port of the proxy is 9090 now.", "batch 1", "2024-04-02"),
        ]

    def test_only_questions_of_facts_that_the_user_told_are_asked(self) -> None:
        assert {question.category: gold(self.unit, question) for question in self.unit.questions} == {
            "information_extraction": ["My deadline is in June."],
            "knowledge_update": ["The port of the proxy is 8080.", "The port of the proxy is 9090 now."],
        }

    def test_an_update_tells_which_statement_holds(self) -> None:
        changes = [question.change for question in self.unit.questions]

        assert changes == [None, Change(frozenset({"m0"}), frozenset({"m4"}))]

    def test_without_dates_the_messages_stand_in_their_order(self) -> None:
        batches = [{"turns": [[{"id": number, "role": "user", "content": "Hello."}]]} for number in (4, 7)]

        first, second = beam.turns_of(batches, "chat").values()

        assert first.timestamp < second.timestamp
