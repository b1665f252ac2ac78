"""Ids and partitions: functions of what caused the thing, the same in every process and in Kafka's own clients."""

import random
import subprocess
import sys

import pytest
from aiokafka.partitioner import murmur2 as reference

from schemas.conversation import Scope
from schemas.facts import command_record_id, fact_id, turn_record_id
from schemas.identity import derived_id, murmur2, partition_of, scope_key
from schemas.memory import event_id

# From the Java client's own tests, as signed 32-bit numbers.
JAVA = [
    (b"21", -973932308),
    (b"foobar", -790332482),
    (b"a-little-bit-long-string", -985981536),
    (b"a-little-bit-longer-string", -1486304829),
    (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
    (b"abc", 479470107),
]
KEYS = [
    ("shop", "ann", "shop/ann"),
    ("a/b", "c", "a%2Fb/c"),
    ("a", "b/c", "a/b%2Fc"),
    ("50%", "a b", "50%25/a%20b"),
    ("o'neil", 'a"b', "o%27neil/a%22b"),
    ("é", "\U0001f642", "%C3%A9/%F0%9F%99%82"),
    ("a-b_c.d~e", "x#1", "a-b_c.d~e/x%231"),
    ("line\nend", "c:\\d", "line%0Aend/c%3A%5Cd"),
]


@pytest.mark.parametrize(("data", "signed"), JAVA)
def test_murmur2_gives_what_the_java_client_gives(data: bytes, signed: int) -> None:
    assert murmur2(data) == signed & 0xFFFFFFFF


def test_murmur2_gives_what_the_kafka_client_gives_for_any_length_and_byte() -> None:
    dice = random.Random(7)

    for length in range(70):
        data = dice.randbytes(length)
        assert murmur2(data) == reference(data) & 0xFFFFFFFF


def test_a_partition_is_a_number_below_their_count_and_spreads_the_keys() -> None:
    found = [partition_of(f"project/user-{number}", 4) for number in range(400)]

    assert set(found) == {0, 1, 2, 3}
    assert min(found.count(partition) for partition in range(4)) > 60


def test_a_single_partition_takes_every_key() -> None:
    assert {partition_of(f"p/{number}", 1) for number in range(50)} == {0}


@pytest.mark.parametrize(("project", "user", "key"), KEYS)
def test_a_scope_key_joins_both_parts_percent_encoded(project: str, user: str, key: str) -> None:
    assert scope_key(project, user) == key
    assert Scope(project_id=project, user_id=user).key == key


def test_no_two_scopes_share_a_key() -> None:
    names = ["a", "b", "a/b", "%2F", "/", "a%2Fb", "A", "a ", "é", "e\u0301"]

    assert len({scope_key(project, user) for project in names for user in names}) == len(names) ** 2


def test_a_scope_stands_on_the_partition_of_its_key() -> None:
    scope = Scope(project_id="shop", user_id="ann")

    assert scope.partition(7) == partition_of("shop/ann", 7)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("fact", "ab", "c"), ("fact", "a", "bc")),
        (("fact", "a"), ("event", "a")),
        (("fact", "a", 1), ("fact", "a", "1")),
        (("fact", None), ("fact", "null")),
        (("fact", "a", None), ("fact", "a")),
        (("fact", '","'), ("fact", "", "")),
        (("fact", ["a"]), ("fact", "a")),
    ],
)
def test_ids_of_other_parts_differ(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert derived_id(*one) != derived_id(*other)


def test_ten_thousand_ids_do_not_collide() -> None:
    ids = {derived_id("turn", f"scope-{number % 100}", number) for number in range(10_000)}

    assert len(ids) == 10_000


def test_an_id_is_the_same_in_another_process_with_another_hash_seed() -> None:
    code = "from schemas.identity import derived_id; print(derived_id('turn', 'shop/ann', {'a': 1}, 'é'))"

    told = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": "4"}
    )

    assert told.stdout.strip() == derived_id("turn", "shop/ann", {"a": 1}, "é")


def test_equal_turn_ids_in_two_scopes_are_two_records() -> None:
    ann, bo = Scope(project_id="shop", user_id="ann"), Scope(project_id="shop", user_id="bo")

    assert turn_record_id(ann, "t1") != turn_record_id(bo, "t1")
    assert command_record_id(ann, "c1", 0) != command_record_id(bo, "c1", 0)
    assert command_record_id(ann, "c1", 0) == command_record_id(ann, "c1", 3)


def test_a_turn_and_a_command_of_one_id_are_two_records() -> None:
    scope = Scope(project_id="shop", user_id="ann")

    assert turn_record_id(scope, "x") != command_record_id(scope, "x", 0)


def test_a_command_without_a_scope_is_one_for_each_partition() -> None:
    assert command_record_id(None, "c1", 0) != command_record_id(None, "c1", 1)


def test_facts_and_events_are_named_by_what_caused_them() -> None:
    assert fact_id("record", 0) != fact_id("record", 1)
    assert event_id(fact_id("record", 0)) == event_id(fact_id("record", 0))
    assert event_id("x") != fact_id("x", 0)
