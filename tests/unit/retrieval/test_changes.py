"""Whether a text tells a change, in five languages."""

import pytest

from lakehouse.retrieval.changes import tells_change


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The quota was raised to 40."),
        ("en", "So far I have mended 12 chairs."),
        ("und", "Rent increased"),
        ("en", "I'm switching to decaf."),
        ("de", "Die Sitzung wurde auf Freitag verschoben."),
        ("de", "Ich wohne jetzt in Wismar."),
        ("es", "La cuota subió a 40."),
        ("es", "Hasta ahora he leído tres."),
        ("fr", "Le loyer a augmenté."),
        ("fr", "Il est passé à mi-temps."),
        ("zh", "会议改成星期五。"),
    ],
)
def test_a_change_is_told_by_its_words_in_any_inflection(language: str, text: str) -> None:
    assert tells_change(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The blue kiln runs at 900 degrees."),
        ("de", "Der Ofen läuft mit 900 Grad."),
        ("es", "El horno está en el patio."),
        ("fr", "Le four est dans la cour."),
        ("zh", "窑在院子里。"),
        ("fi", "Now it is new."),
        ("en", ""),
    ],
)
def test_a_statement_of_how_things_are_tells_none(language: str, text: str) -> None:
    assert not tells_change(text, language)
