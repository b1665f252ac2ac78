"""Claims: subject, attribute, value and polarity of general sentence forms."""

import pytest

from streams.extract import read_claim
from streams.extract.clauses import clauses_of
from streams.extract.english_words import singular

Parts = tuple[str | None, str | None, str | None]
UNREAD_CLAIM: Parts = (None, None, None)
ENGLISH = [
    ("My name is Imke.", ("user", "name", "Imke")),
    ("I live in Setúbal.", ("user", "home", "Setúbal")),
    ("I moved from Faro to Setúbal.", ("user", "home", "Setúbal")),
    ("I work as a glazier.", ("user", "job", "glazier")),
    ("I work for Holm & Sons now.", ("user", "employer", "Holm & Sons")),
    ("I am 41 years old.", ("user", "age", "41")),
    ("I was born in Turku.", ("user", "birthplace", "Turku")),
    ("My goat is called Otto.", ("user's goat", "name", "Otto")),
    ("The name of my goat is Otto.", ("user's goat", "name", "Otto")),
    ("Otto is the name of my goat.", ("user's goat", "name", "Otto")),
    ("My favorite color is teal.", ("user", "favourite colour", "teal")),
    ("The port of the staging server is 8080.", ("staging server", "port", "8080")),
    ("The staging server listens on port 8080.", ("staging server", "port", "8080")),
    ("The small barrel costs 12 euros.", ("small barrel", "price", "12 euros")),
    ("The owner of the barn is Ruta.", ("barn", "owner", "Ruta")),
    ("Ruta's barn is in Olden.", ("ruta's barn", "is in", "Olden")),
    ("The release is planned for 14 March.", ("release", "is planned for", "14 March")),
    ("The meeting is on Tuesday.", ("meeting", "is when", "Tuesday")),
    ("I am allergic to lupins.", ("user", "is allergic to", "lupins")),
    ("I prefer rye over wheat.", ("user", "to prefer", "rye over wheat")),
    ("Rye is the bread I eat.", ("user", "to eat", "Rye")),
    ("The crane runs on Debian 12.", ("crane", "to run on", "Debian 12")),
    ("We upgraded the crane to Debian 13.", ("crane", "change", "Debian 13")),
    ("I sold my tractor.", ("user", "did sell", "my tractor")),
    ("The alarm is off.", ("alarm", "is", "off")),
    ("My sledge is green.", ("user's sledge", "colour", "green")),
    ("The mast is nine metres high.", ("mast", "is high", "nine metres")),
    ("Reminder: I live in Lugo.", ("user", "home", "Lugo")),
    ("The chess club, I am a member there.", ("user", "is member of", "chess club")),
    ("The harbour, we have a boat in it.", ("we", "to have", "boat in The harbour")),
    ("The stable, I keep a goat there.", ("user", "to keep", "goat in The stable")),
    ("Miso is my cat.", ("user", "cat", "Miso")),
    ("The goat is named Otto.", ("goat", "name", "Otto")),
    ("My goat has been called Otto.", ("user's goat", "name", "Otto")),
    ("I have sold my boat.", ("user", "did sell", "my boat")),
    ("The gate is painted red.", ("gate", "is painted", "red")),
    ("The gate really is always red.", ("gate", "colour", "red")),
    ("We really often visit Faro.", ("we", "to visit", "Faro")),
    ("That crane is red.", ("crane", "colour", "red")),
    ("Braga is the capital.", ("braga", "is", "capital")),
    ("Otto is the captain of Ruta.", ("ruta", "captain", "Otto")),
    ("The lathe turns.", ("lathe", "to do", "turn")),
    ("Jan and I are twins.", ("jan and i", "is", "twins")),
    ("We upgraded ! to Debian 13.", ("we", "did upgrade", "to Debian 13")),
]
ELSEWHERE: list[tuple[str, str, Parts]] = [
    ("de", "Ich wohne jetzt in Ulm.", ("user", "home", "Ulm")),
    ("de", "Meine Ziege heißt Otto.", ("user's ziege", "name", "Otto")),
    ("de", "Der Server läuft auf Port 8080.", ("server", "port", "8080")),
    ("es", "Ahora vivo en Lugo.", ("user", "home", "Lugo")),
    ("es", "Soy alérgico a los kiwis.", ("user", "is allergic to", "kiwis")),
    ("fr", "J'habite à Lille.", ("user", "home", "Lille")),
    ("fr", "Mon âne s'appelle Otto.", ("user's âne", "name", "Otto")),
    ("it", "Mi chiamo Piero.", ("user", "name", "Piero")),
    ("pt", "Eu moro em Braga.", ("user", "home", "Braga")),
    ("nl", "Ik woon in Leiden.", ("user", "home", "Leiden")),
    ("zh", "我住在杭州。", ("user", "home", "杭州")),
    ("zh", "我对花生过敏。", ("user", "is allergic to", "花生")),
    ("ja", "私は奈良に住んでいます。", ("user", "home", "奈良")),
    ("ru", "Я живу в Казани.", ("user", "home", "Казани")),
    ("de", "Meine Katze ist grau.", ("user's katze", "is", "grau")),
    ("de", "Die Farbe des Tors ist Grün.", ("tors", "farbe", "Grün")),
    (
        "de",
        "Die Farbe des Tors ist ein helles Grün mit sehr viel Blau darin.",
        ("farbe des tors", "is", "helles Grün mit sehr viel Blau darin"),
    ),
    ("de", "Ich … ?", UNREAD_CLAIM),
    ("es", "Tengo … años.", ("user", "to have", "años")),
    ("und", "Ich wohne in Ulm.", ("user", "home", "Ulm")),
    ("fi", "Asun Turussa.", UNREAD_CLAIM),
]
NEGATIVE = [
    ("en", "Tove does not eat eel."),
    ("en", "I no longer live in Faro."),
    ("en", "Deploys on Sundays aren't allowed."),
    ("en", "I have no sisters."),
    ("de", "Der Steg ist nicht gesperrt."),
    ("de", "Ich mag keinen Kaffee."),
    ("fr", "Le quai n'est pas fermé."),
    ("es", "No me gusta el café."),
    ("zh", "我不喝咖啡。"),
    ("ru", "Я не пью кофе."),
    ("sv", "Jag dricker inte kaffe."),
]
AFFIRMATIVE = [
    ("en", "The wrapper is written in C and not in D."),
    ("en", "The note is on the knot."),
    ("zh", "我们的原则是不断改进。"),
]
CLAUSES_WITHIN = ["The crate that is red costs 12 euros.", "What I have costs 12 euros.", "The goat we had is brown."]
UNREAD = [
    *CLAUSES_WITHIN,
    "The gate is.",
    "Splendid!",
    "x",
    "",
    "???",
    "Sandwiches everywhere",
    "In May, ! was red.",
    f"I play the {'o' * 250}.",
]
SINGULARS = [("cities", "city"), ("ties", "tie"), ("gates", "gate"), ("glass", "glass"), ("gas", "gas")]
CLAUSES = [
    ("I live in Lugo and my goat is called Otto.", ["I live in Lugo", "my goat is called Otto."]),
    (
        "I live in Lugo with the cat and the dog and my goat is called Otto.",
        ["I live in Lugo with the cat and the dog", "my goat is called Otto."],
    ),
    ("I like plums and the sea.", ["I like plums and the sea."]),
]


@pytest.mark.parametrize(("sentence", "claim"), ENGLISH, ids=[sentence for sentence, _ in ENGLISH])
def test_an_english_sentence_is_read(sentence: str, claim: tuple[str, str, str]) -> None:
    read = read_claim(sentence)

    assert (read.subject, read.attribute, read.value) == claim
    assert read.polarity == "affirmative"


@pytest.mark.parametrize(("language", "sentence", "claim"), ELSEWHERE, ids=[sentence for _, sentence, _ in ELSEWHERE])
def test_a_sentence_of_another_language_is_read(language: str, sentence: str, claim: Parts) -> None:
    read = read_claim(sentence, language)

    assert (read.subject, read.attribute, read.value) == claim


@pytest.mark.parametrize(("language", "sentence"), NEGATIVE, ids=[sentence for _, sentence in NEGATIVE])
def test_a_negation_is_seen(language: str, sentence: str) -> None:
    assert read_claim(sentence, language).polarity == "negative"


@pytest.mark.parametrize(("language", "sentence"), AFFIRMATIVE, ids=[sentence for _, sentence in AFFIRMATIVE])
def test_a_word_that_only_looks_like_a_negation_is_none(language: str, sentence: str) -> None:
    assert read_claim(sentence, language).polarity == "affirmative"


@pytest.mark.parametrize("sentence", UNREAD)
def test_what_fits_no_form_has_no_claim(sentence: str) -> None:
    assert not read_claim(sentence).is_read


def test_qualifiers_are_kept() -> None:
    subjects = {read_claim(f"The {name} fires at 1000 degrees.").subject for name in ("red kiln", "blue kiln", "kiln")}

    assert subjects == {"red kiln", "blue kiln", "kiln"}


def test_who_i_is_is_the_speaker() -> None:
    assert read_claim("I play the oboe.", "en", "ruta").subject == "ruta"


@pytest.mark.parametrize(("sentence", "clauses"), CLAUSES, ids=[sentence for sentence, _ in CLAUSES])
def test_a_sentence_is_cut_only_where_both_halves_are_claims(sentence: str, clauses: list[str]) -> None:
    assert clauses_of(sentence, "en") == clauses


@pytest.mark.parametrize(("noun", "one"), SINGULARS, ids=[noun for noun, _ in SINGULARS])
def test_a_plural_has_a_singular_by_rule(noun: str, one: str) -> None:
    assert singular(noun) == one
