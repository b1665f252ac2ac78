"""The conversation that ships with the demo is whole: turns in order, several days, its origin told."""

from importlib.resources import files

from schemas.conversation import Scope, Turn
from streams.formats.reading import read_file

DATA = files("streams") / "demo" / "data"


def bundled() -> list[Turn]:
    text = (DATA / "conversation.jsonl").read_text(encoding="utf-8")
    return list(read_file(text, None, Scope(project_id="other", user_id="other")))


def test_its_turns_come_in_the_order_of_time_with_ids_of_their_own() -> None:
    turns = bundled()

    assert turns == sorted(turns, key=lambda turn: turn.timestamp)
    assert len({turn.turn_id for turn in turns}) == len(turns)


def test_the_same_people_talk_on_several_days() -> None:
    turns = bundled()

    assert {turn.role for turn in turns} == {"user"}
    assert {turn.name for turn in turns} == {"CapCom", "Neil Armstrong", "Buzz Aldrin", "Michael Collins"}
    assert len({turn.session_id for turn in turns}) == 9
    assert all(turn.session_id == f"apollo-11-{turn.timestamp.date()}" for turn in turns)


def test_its_scope_is_its_own() -> None:
    assert {turn.scope for turn in bundled()} == {Scope(project_id="demo", user_id="apollo-11")}


def test_its_origin_and_licence_are_told_beside_it() -> None:
    source = (DATA / "SOURCE.md").read_text(encoding="utf-8")

    assert f"{len(bundled())} of about" in source
    assert "Public domain" in source
