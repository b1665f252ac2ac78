"""Changes and endings in a sentence's own words, in five languages; what is no change is none."""

import pytest

from lakehouse.stems import stem
from streams.wording.ended import ended
from streams.wording.reported import reported_change

CHANGES = [
    ("The port changed from 8080 to 8081.", "en", "8080", "8081"),
    ("Ada changed her desk from 'oak' to 'pine' at last.", "en", "oak", "pine"),
    ("Wir haben das Limit von 5 auf 7 erhöht.", "de", "5", "7"),
    ("Mi alquiler subió de 800 a 900 euros", "es", "800", "900 euros"),
    ("Mon loyer est passé de 800 à 900 euros", "fr", "800", "900 euros"),
    ("我们把数据库从MySQL换成了PostgreSQL。", "zh", "MySQL", "PostgreSQL"),
    ("The port is not 8080, it is 8081.", "en", "8080", "8081"),
]
NO_CHANGES = [
    ("I drove from Graz to Linz.", "en"),
    ("From March to May I changed trains a lot.", "en"),
    ("Ich bin von Graz nach Linz gefahren.", "de"),
    ("我从北京到上海出差。", "zh"),
    ("It changed from five to five.", "en"),
    ("Muuttui viidestä kuuteen.", "fi"),
]


@pytest.mark.parametrize(("text", "language", "old", "new"), CHANGES)
def test_what_was_and_what_is(text: str, language: str, old: str, new: str) -> None:
    report = reported_change(text, language)

    assert report is not None
    assert (report.old, report.new) == (old, new)


@pytest.mark.parametrize(("text", "language"), NO_CHANGES)
def test_a_way_is_no_change(text: str, language: str) -> None:
    assert reported_change(text, language) is None


def test_the_statement_that_holds_now_is_told_without_the_old_value() -> None:
    report = reported_change("My boss is no longer Tom, it's Lucy now.", "en")

    assert report is not None
    assert report.statement == "My boss is Lucy"


@pytest.mark.parametrize(
    ("text", "language", "what"),
    [
        ("I finally sold my old bike in May.", "en", "old bike"),
        ("Ich habe mit dem Rauchen aufgehört.", "de", "Rauchen"),
        ("He vendido mi coche.", "es", "coche"),
        ("J'ai arrêté le tennis depuis mars.", "fr", "tennis"),
        ("我戒了咖啡。", "zh", "咖啡"),
        ("I finished my coffee.", "en", None),
        ("Lopetin tenniksen.", "fi", None),
    ],
)
def test_what_has_ended(text: str, language: str, what: str | None) -> None:
    assert ended(text, language) == what


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [("inspired", "inspires", "en"), ("gespielten", "gespielte", "de"), ("gatos", "gato", "es")],
)
def test_inflections_have_one_stem(one: str, other: str, language: str) -> None:
    assert stem(one, language) == stem(other, language)


@pytest.mark.parametrize(("word", "language"), [("v2.1", "en"), ("is", "en"), ("喜欢", "zh"), ("kissa", "xx")])
def test_what_has_no_ending_is_its_own_stem(word: str, language: str) -> None:
    assert stem(word, language) == word
