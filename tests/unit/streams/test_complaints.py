"""What the command line says went wrong: on stderr, with no secret in it, whatever the settings are."""

import pytest

from schemas.errors import MemlakeError
from streams import cli
from streams.cli.options import complain
from tests.planted import planted

KEY = next(one.value for one in planted(2) if one.shape == "AWS id")


@pytest.mark.parametrize("settings", [{}, {"MEMLAKE_MASK_OFF": "no_such_class"}], ids=str)
def test_a_secret_in_a_complaint_is_masked(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    complain(f"{KEY}: unknown field")

    assert capsys.readouterr() == ("", "[masked:cloud_key]: unknown field\n")


def test_a_class_that_is_off_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MEMLAKE_MASK_OFF", "cloud_key")

    complain(f"{KEY}: unknown field")

    assert capsys.readouterr().err == f"{KEY}: unknown field\n"


@pytest.mark.parametrize("error", [MemlakeError(f"no {KEY}"), OSError(2, f"no {KEY}")], ids=["ours", "the system's"])
def test_a_failure_is_told_without_its_secrets(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(**_: object) -> None:
        raise error

    monkeypatch.setattr(cli.memlake, "main", fails)
    with pytest.raises(SystemExit) as ended:
        cli.main()

    assert ended.value.code == 1
    assert capsys.readouterr() == ("", "memlake: no [masked:cloud_key]\n")
