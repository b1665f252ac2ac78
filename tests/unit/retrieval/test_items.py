"""What a row is as an item: by which words, names and times it is found, and the message it holds."""

from tests.unit.retrieval.by_hand import EVENT, START, TURN, memory, turn


def test_a_memory_is_an_item_with_the_version_it_holds() -> None:
    item = memory(7, "Zoë likes tea.", minute=3, sources=("t1", "t2"), subject="  Zoë ")

    assert (item.kind, item.key, item.id, item.cited) == ("knowledge", "7", "7", "7")
    assert (item.terms, item.who, item.place) == (("zoe", "likes", "tea"), "zoe", 7)
    assert (item.text, item.at.minute, item.sources, item.told) == ("Zoë likes tea.", 3, ("t1", "t2"), True)
    assert item.session_id == EVENT.source_session_id
    assert (item.row.event.text, item.row.valid_from, item.row.status) == ("Zoë likes tea.", item.at, "current")
    assert item.row is item.row


def test_a_turn_is_an_item_with_the_record_it_holds() -> None:
    item = turn(4, "Hello there", session="s", name="Ann", facts=1)

    assert (item.kind, item.key, item.id) == ("episode", "r4", "t4")
    assert (item.terms, item.who, item.place, item.sources) == (("hello", "there"), "ann", 4, ("t4",))
    assert (item.session_id, item.at, item.told) == ("s", START, True)
    assert item.record.turn.content == "Hello there"
    assert item.record.source == TURN.source
    assert item.cited != memory(4, "x").cited


def test_an_unnamed_turn_is_its_users_and_one_without_facts_told_nothing() -> None:
    assert turn(1, "Hi").who == "user"
    assert turn(1, "Hi", name="  ").who == "user"
    assert memory(1, "x").who is None
    assert not turn(1, "Hi").told
