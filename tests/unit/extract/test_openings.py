"""What stands ahead of a claim, and adverbs of return, are no part of what it says, in any language of the rules."""

import pytest

from streams.extract import read_claim
from streams.extract.openers import opened

Parts = tuple[str, str, str]
SINCE_WHEN: list[tuple[str, str, Parts]] = [
    ("de", "Seit Montag ist meine Werkstatt in Halle 5.", ("user's werkstatt", "is", "in Halle 5")),
    ("de", "Ab morgen wohnt Ruta in Celle.", ("ruta", "home", "Celle")),
    ("de", "Jetzt heißt mein neuer Kater Emil.", ("user's neuer kater", "name", "Emil")),
    ("de", "Gestern war ich in Celle.", ("user", "did war", "in Celle")),
    ("es", "Desde el lunes mi taller está en la nave 5.", ("user's taller", "is in", "nave 5")),
    ("fr", "Depuis lundi, mon atelier est au quai 5.", ("user's atelier", "is", "au quai 5")),
    ("zh", "从星期一起我的工位在5号。", ("user's 工位", "is when", "5号")),
    ("zh", "从上个月开始，仓库在城东。", ("仓库", "is in", "城东")),  # noqa: RUF001 - a Chinese comma
]
REALLY: list[tuple[str, str, Parts]] = [
    ("de", "Eigentlich ist meine Werkstatt in Halle 6.", ("user's werkstatt", "is", "in Halle 6")),
    ("es", "De hecho, mi taller está en la nave 6.", ("user's taller", "is in", "nave 6")),
    ("fr", "En réalité, mon atelier est au quai 6.", ("user's atelier", "is", "au quai 6")),
    ("zh", "实际上我的工位在6号。", ("user's 工位", "is when", "6号")),
]
RETURNED: list[tuple[str, str, Parts]] = [
    ("en", "My kiln is back in shed 2.", ("user's kiln", "is in", "shed 2")),
    ("en", "I moved back to Olden.", ("user", "home", "Olden")),
    ("en", "My kiln is in shed 2 once more.", ("user's kiln", "is in", "shed 2")),
    ("de", "Meine Werkstatt ist wieder in Halle 2.", ("user's werkstatt", "is", "in Halle 2")),
    ("es", "Mi taller está de nuevo en la nave 2.", ("user's taller", "is in", "nave 2")),
    ("fr", "Mon atelier est à nouveau au quai 2.", ("user's atelier", "is", "au quai 2")),
    ("zh", "我的工位又在2号了。", ("user's 工位", "is when", "2号")),
]
OUTCOMES: list[tuple[str, str, Parts]] = [
    ("de", "Ich bin gerade umgezogen und lebe jetzt in Celle.", ("user", "home", "Celle")),
    ("de", "Ich bin umgezogen, jetzt wohne ich in Celle.", ("user", "home", "Celle")),
    ("es", "Nos hemos mudado y ahora vivo en Lugo.", ("user", "home", "Lugo")),
    ("es", "He cambiado de trabajo, ahora trabajo para Orvia.", ("user", "employer", "Orvia")),
    ("fr", "J'ai déménagé et habite désormais à Lille.", ("user", "home", "Lille")),
    ("fr", "J'ai changé de travail, je travaille maintenant chez Orvia.", ("user", "employer", "Orvia")),
    ("zh", "我最近搬家了，现在住在绍兴。", ("user", "home", "绍兴")),  # noqa: RUF001 - a Chinese comma
    ("en", "Ruta got promoted, so her title is foreman.", ("ruta", "title", "foreman")),
]
RAISED: list[tuple[str, str, Parts]] = [
    ("de", "Meine Pacht wurde von 300 auf 340 Euro erhöht.", ("user's pacht", "change", "340 Euro")),
    ("es", "Mi cuota ha subido de 30 a 34 euros.", ("user's cuota", "change", "34 euros")),
    ("fr", "Ma cotisation est passée de 30 à 34 euros.", ("user's cotisation", "change", "34 euros")),
    ("zh", "我的会费从300元涨到340元。", ("user's 会费", "change", "340元")),
]
KEPT: list[tuple[str, str, Parts]] = [
    ("de", "Ich kam nach Hause.", ("user", "did kam", "nach Hause")),
    ("es", "El lunes es mi día libre.", ("lunes", "is", "mi día libre")),
    ("en", "My goat is back to front.", ("user's goat", "is back to", "front")),
    ("en", "The app is out of date.", ("app", "is", "out of date")),
    ("en", "The app is up to date with its licence.", ("app", "is up to date with", "its licence")),
    ("en", "I moved to Olden, so my desk is new.", ("user", "home", "Olden, so my desk is new")),
]


@pytest.mark.parametrize(
    ("language", "sentence", "claim"), [*SINCE_WHEN, *REALLY, *RETURNED, *OUTCOMES, *RAISED, *KEPT]
)
def test_what_stands_ahead_of_a_claim_is_no_part_of_it(language: str, sentence: str, claim: Parts) -> None:
    read = read_claim(sentence, language)

    assert (read.subject, read.attribute, read.value) == claim


def test_a_question_without_its_mark_is_no_statement() -> None:
    assert not read_claim("Ist meine Werkstatt in Halle 5", "de").is_read


def test_a_possessive_alone_is_no_subject() -> None:
    assert read_claim("Meine Hütte brennt.", "de").subject != "meine"


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Nein, warte, der Kater heißt Emil.", "der Kater heißt Emil."),
        ("No, espera, el gato se llama Emilio.", "el gato se llama Emilio."),
        ("Non, attends, le chat s'appelle Émile.", "le chat s'appelle Émile."),
        ("等等，猫叫小黑。", "猫叫小黑。"),  # noqa: RUF001 - a Chinese comma
        ("抱歉，我是说星期五。", "星期五。"),  # noqa: RUF001 - a Chinese comma
    ],
)
def test_asking_to_wait_opens_a_correction(sentence: str, told: str) -> None:
    read = opened(sentence)

    assert read.correction
    assert read.text == told


@pytest.mark.parametrize("sentence", ["Wartezimmer sind öde.", "Halterungen kosten 3 Euro.", "我是说英语的。"])
def test_a_word_that_only_begins_like_one_opens_nothing(sentence: str) -> None:
    assert opened(sentence).text == sentence
