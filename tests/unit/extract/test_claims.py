"""Claims: subject, attribute, value and polarity of general sentence forms."""

import pytest

from streams.extract import read_claim

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
]
ELSEWHERE = [
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
]
AFFIRMATIVE = [
    ("en", "The wrapper is written in C and not in D."),
    ("en", "The note is on the knot."),
    ("zh", "我们的原则是不断改进。"),
]
UNREAD = ["Splendid!", "x", "", "???", "Sandwiches everywhere"]


@pytest.mark.parametrize(("sentence", "claim"), ENGLISH, ids=[sentence for sentence, _ in ENGLISH])
def test_an_english_sentence_is_read(sentence: str, claim: tuple[str, str, str]) -> None:
    read = read_claim(sentence)

    assert (read.subject, read.attribute, read.value) == claim
    assert read.polarity == "affirmative"


@pytest.mark.parametrize(("language", "sentence", "claim"), ELSEWHERE, ids=[sentence for _, sentence, _ in ELSEWHERE])
def test_a_sentence_of_another_language_is_read(language: str, sentence: str, claim: tuple[str, str, str]) -> None:
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
