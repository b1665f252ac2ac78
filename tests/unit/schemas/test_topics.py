"""The table of topics: what the rest relies on."""

from schemas.message import Message
from schemas.topics import BY_SUFFIX, INPUT_BYTES, RECORD_BYTES, TOPICS, topic_name

SCOPED = {"turns", "commands", "facts", "changes", "queries"}
FOR_EVER = {"facts", "changes", "knowledge.changes"}


def test_names_are_unique_and_are_those_that_programs_depend_on() -> None:
    assert len(BY_SUFFIX) == len(TOPICS) == 10
    assert topic_name("prod", "knowledge.changes") == "prod.knowledge.changes"


def test_what_is_keyed_by_scope_has_the_partitions_of_the_scopes() -> None:
    assert {spec.suffix for spec in TOPICS if spec.scoped} == SCOPED


def test_what_memory_is_made_of_is_kept_for_ever() -> None:
    assert {spec.suffix for spec in TOPICS if spec.config()["retention.ms"] == "-1"} == FOR_EVER


def test_records_and_letters_have_room_for_an_input_with_all_that_is_said_about_it() -> None:
    sizes = {spec.suffix: spec.max_message_bytes for spec in TOPICS}

    assert sizes["turns"] == sizes["commands"] == INPUT_BYTES
    assert sizes["facts"] == sizes["changes"] == sizes["replies"] == sizes["deadletters"] == RECORD_BYTES
    assert RECORD_BYTES >= 3 * INPUT_BYTES > sizes["queries"]


def test_the_broker_stamps_what_people_send_and_nothing_else() -> None:
    assert {spec.suffix for spec in TOPICS if spec.log_append_time} == {"turns", "commands"}
    assert BY_SUFFIX["turns"].config()["message.timestamp.type"] == "LogAppendTime"
    assert BY_SUFFIX["facts"].config()["message.timestamp.type"] == "CreateTime"


def test_an_erasure_reaches_consumers_before_it_is_compacted_away_and_is_gone_within_the_hour() -> None:
    for suffix in ("facts", "changes"):
        config = BY_SUFFIX[suffix].config()

        assert config["cleanup.policy"] == "compact"
        assert config["min.compaction.lag.ms"] == "600000"
        assert config["max.compaction.lag.ms"] == "3600000"
    assert "min.compaction.lag.ms" not in BY_SUFFIX["turns"].config()


def test_each_kind_of_message_has_a_topic() -> None:
    told = {kind for spec in TOPICS for kind in spec.messages}
    kinds = {found.kind for found in _subclasses(Message) if found.__module__.startswith("schemas.")}

    assert kinds <= told


def _subclasses(kind: type[Message]) -> list[type[Message]]:
    direct = kind.__subclasses__()
    return [found for found in direct if "kind" in vars(found)] + [deep for one in direct for deep in _subclasses(one)]
