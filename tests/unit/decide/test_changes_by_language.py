"""Changes as each language of the rules tells them: no more, again, since when, opposites; and what is no change."""

import pytest

from streams.decide.opposites import are_opposites, opposed
from streams.decide.values import Relation, relation
from streams.decide.words import words_of
from tests.unit.decide.test_statements import told_after

LIKENESS = 0.85
CHANGES = [
    ("Meine Tante tanzt.", "Meine Tante tanzt nicht mehr."),
    ("Mon voisin chante le soir.", "Mon voisin ne chante plus le soir."),
    ("我们总是关灯。", "我们从不关灯。"),
    ("我的会费是每月300元。", "我的会费从300元涨到340元。"),
    ("Meine Pacht beträgt 300 Euro.", "Meine Pacht wurde von 300 auf 340 Euro erhöht."),
    ("Las motos están permitidas en el puente.", "Las motos están prohibidas en el puente."),
    ("La porte est ouverte.", "La porte est fermée."),
    ("The boat is up to date with its survey.", "The boat is due for survey."),
    ("The map is up to date.", "The map is out of date."),
    ("They moved my kiln from shed 2 to shed 3.", "My kiln is back in shed 2."),
    ("Mi taller está en la 35.", "Mi taller está en la nave 36."),
    ("Ruta's title is welder.", "Ruta got promoted, so her title is foreman."),
    ("Ich wohne in Celle.", "Ich bin umgezogen und wohne jetzt in Stade."),
    ("Vivo en Lugo.", "Me he mudado, ahora vivo en Vigo."),
    ("J'habite à Lille.", "J'ai déménagé, j'habite maintenant à Metz."),
    ("我住在绍兴。", "我搬家了，现在住在温州。"),  # noqa: RUF001 - a Chinese comma
]
BESIDE = [
    ("Meine Tante tanzt.", "Mein Onkel tanzt nicht mehr."),
    ("Mon voisin chante le soir.", "Ma tante ne chante plus le soir."),
    ("Meine Pacht beträgt 300 Euro.", "Meine Prämie wurde von 50 auf 60 Euro erhöht."),
    ("The boat is up to date with its survey.", "The boat is due for paint."),
    ("They moved my kiln from shed 2 to shed 3.", "My lathe is back in shed 2."),
    ("我的会费是每月300元。", "我的保险从500元涨到540元。"),
    ("我从不喝酒。", "我妹妹喝酒。"),
    ("Tengo 3 cabras.", "Tengo 35."),
    ("Ich sammle Münzen.", "Heute sammle ich wieder Marken."),
    ("Me gusta el té.", "En realidad, me gusta el mate."),
]
SAME = [("我不喝酒。", "我从不喝酒。"), ("Ich bin in Celle.", "Ich bin wieder in Celle.")]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_change_takes_the_place_of_what_was(old: str, new: str) -> None:
    decision = told_after(old, new, LIKENESS)

    assert (decision.event, decision.target) == ("UPDATE", 1)


@pytest.mark.parametrize(("old", "new"), BESIDE)
def test_a_change_of_something_else_changes_nothing(old: str, new: str) -> None:
    assert told_after(old, new, LIKENESS).event == "ADD"


@pytest.mark.parametrize(("old", "new"), SAME)
def test_a_denial_and_a_return_that_say_nothing_new_are_known(old: str, new: str) -> None:
    assert told_after(old, new, LIKENESS).event == "NONE"


@pytest.mark.parametrize(
    ("no_more", "plain"),
    [
        ("Sie tanzt nicht mehr.", "Sie tanzt."),
        ("Sie trinkt keinen Tee mehr.", "Sie trinkt Tee."),
        ("Il ne chante plus.", "Il chante."),
        ("Ya no canta.", "Canta."),
    ],
)
def test_no_more_denies_and_tells_a_change(no_more: str, plain: str) -> None:
    told = words_of(no_more)

    assert told.negative
    assert told.changes
    assert told.content == words_of(plain).content


@pytest.mark.parametrize(
    "text", ["Il n'est pas plus grand.", "Es sind nicht mehr als drei.", "Il ne dit plus que cela."]
)
def test_more_and_only_are_no_no_more(text: str) -> None:
    assert not words_of(text).changes


def test_an_opposite_stands_for_its_inflected_forms() -> None:
    assert are_opposites("cerradas", "abiertos")
    assert are_opposites("fermée", "ouverte")
    assert opposed(("map", "is", "up", "to", "date"), ("map", "is", "overdue")) == ("up to date", "overdue")


@pytest.mark.parametrize(("new", "old"), [("nave 36", "en la 35"), ("la 35", "nave 34"), ("floor 4", "the 3rd")])
def test_a_number_alone_stands_for_its_thing(new: str, old: str) -> None:
    assert relation(new, old) is Relation.NUMBER


@pytest.mark.parametrize(("new", "old"), [("nave 36", "2019"), ("nave 36", "7:30 pm"), ("red floor 4", "the roof")])
def test_a_year_or_a_time_stands_for_itself(new: str, old: str) -> None:
    assert relation(new, old) is not Relation.NUMBER
