"""What is masked and what only looks like it, in every language that is spoken of passwords."""

import pytest

from schemas.facts import Masked
from streams.masking import Masker
from streams.masking.checks import CHECKS, card, discord, iban, token, user_and_password
from streams.masking.rules import MASK
from tests.planted import Planted, planted

ALL = ("email", "phone", "national_id")
MASKER = Masker.made()
EVERY = Masker.made(on=ALL)
SECRETS = planted(20_260_101)
HARMLESS = [
    # what speaks of secrets
    "The database needs a password.",
    "The wifi password is written on the back of the router.",
    "The passphrase is 12 words long.",
    "The password is required and must be at least 8 characters.",
    "The password was changed 3 days ago and expires on 2027-01-01.",
    "The token limit is 4096.",
    "The token is expired and the secret is out.",
    'The password field is "required".',
    "The password for user ann42 is stored in Vault.",
    "My secret santa is Bob2.",
    "The secret of good bread is time.",
    "The key of success is patience.",
    "GPT4 is the secret weapon of our team.",
    "We reset the password of Ann to her old one.",
    "The password generator is on the third floor.",
    "Das Passwort ist falsch.",
    "Das Passwort steht auf dem Zettel.",
    "La contraseña es obligatoria.",
    "Le mot de passe est requis.",
    "密码是必需的。",
    "密码管理器是KeePass2。",
    "パスワードは必要です。",
    "The seed phrase is twelve words long and written on paper in a safe place with my will.",
    "My pin is 13, and the PIN header has 40 pins.",
    "The GPIO pin is 1200 mm away.",
    "The security code of the gate is on page 12.",
    "Cookie: I like the chocolate one.",
    "The bearer of this letter is Ann2. Bearer authentication is used.",
    "Our IBAN is on the invoice.",
    # methods, programs and forms
    "The password hash is SHA-256.",
    "We hash the password with Argon2id.",
    "The token type is OAuth2.",
    "The API key is checked by Nginx 1.25.3.",
    "The token endpoint is https://auth.example.com/oauth2/token",
    "token = get_token(user1)",
    'password = os.environ["DB_PASS1"]',
    "const [token, setToken] = useState(null);",
    "type Login = { user: string; password: string; token?: string | null }",
    '"password": "Please enter your password"',
    "password: ${DB_PASSWORD}",
    "password: {{ .Values.password1 }}",
    "password=<your-password-1>",
    "Fill in user and password fields.",
    "await bcrypt.hash(password, bcryptSaltRounds1);",
    "credentials:\n  credential1:\n    api_key: <API_KEY_1>",
    "DATABASE_URL=postgresql://username:password@host:5432/name",
    "new WebClient('xoxb-your-slack-token')",
    "MAX_TOKENS=4096",
    "SORT_KEY=name",
    "PARTITION_KEY=shop/ann",
    "The secret store is Vault and the secret name is db1-credentials.",
    "Use the --token option to pass it.",
    "mysql -u root -p mydb1",
    "docker run -u 1000:1000 image",
    '{"next_token": 5, "tokens": 4096, "token": "hello"}',
    "if (password === null) { return }",
    "-----BEGIN CERTIFICATE-----",
    "sk-learn-tutorial-2024-notes and the class sk-folding-cube2",
    # numbers and fingerprints
    "My badge is number 70 and my phone number is 555 0142.",
    "Ticket 1630456000000 was closed on 2024-03-02.",
    "Order 4111 1111 1111 1112 is not a card.",
    "Order 2111 1111 1111 1111 is not a card.",
    "ISBN 978-3-16-148410-0 and 9783161484100.",
    "Call +49 30 901820 or (030) 1234-5678 or 555-123-4567.",
    "The tracking number is 1Z999AA10123456784.",
    "Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixed it.",
    "The id is 550e8400-e29b-41d4-a716-446655440000.",
    'integrity="sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAA",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 ann@laptop",
    "Gate AB12 CDEF 1234 is shut, and Ford built the GT350R model that can really take it to the next level.",
    "I moved to 12 Baker Street, NW1 6XE London on 2024-05-06 at 10:30.",
    "My e-mail is jo.doe@example.org.",
    "See https://example.com:8080/a@b and mailto:john1985@example.org.",
]
KEYWORDS = ["token ", "secret token password ", "api key ", "token is ", "password a a a a ", "密码"]


@pytest.mark.parametrize("said", SECRETS, ids=[f"{one.secret}-{one.shape}" for one in SECRETS])
def test_a_made_up_secret_is_masked_by_its_class_and_masked_once(said: Planted) -> None:
    masked, told = EVERY.mask(said.text)

    assert said.value not in masked
    assert said.secret in {one.secret for one in told}
    assert EVERY.mask(masked) == (masked, ())


@pytest.mark.parametrize("text", HARMLESS)
def test_a_text_that_holds_no_secret_stays_as_it_is(text: str) -> None:
    assert MASKER.mask(text) == (text, ())


def test_what_stands_round_a_secret_is_kept() -> None:
    (key,) = [one.value for one in SECRETS if one.shape == "AWS id"]

    assert MASKER.mask(f"The harbour gate takes {key} and is in Oslo.") == (
        "The harbour gate takes [masked:cloud_key] and is in Oslo.",
        (Masked(secret="cloud_key", count=1),),
    )


def test_the_end_of_a_sentence_is_no_part_of_its_password() -> None:
    assert MASKER.text("My password is Hunter2xx, as before.") == "My password is [masked:password], as before."
    assert (
        MASKER.text("It is said: my password is Hunter2xx: use it")
        == "It is said: my password is [masked:password]: use it"
    )
    assert MASKER.text("(The password: Hunter2xx)") == "(The password: [masked:password])"


def test_every_class_has_a_shape_that_is_planted() -> None:
    assert {one.name for one in MASKER.classes} == {one.secret for one in SECRETS}


def test_a_class_is_on_unless_it_hides_what_people_ask_for() -> None:
    assert {one.name for one in MASKER.classes if not one.on} == set(ALL)


@pytest.mark.parametrize("secret", ALL)
def test_a_class_that_is_off_is_masked_when_asked_for(secret: str) -> None:
    said = [one for one in SECRETS if one.secret == secret]

    assert said
    for one in said:
        assert one.value in MASKER.text(one.text)
        assert one.value not in Masker.made(on=[secret]).text(one.text)


@pytest.mark.parametrize("keywords", KEYWORDS)
def test_a_long_run_of_keywords_hides_no_secret_behind_it(keywords: str) -> None:
    run = keywords * 2_000

    assert MASKER.mask(f"{run}. My password is Hunter2xx") == (
        f"{run}. My password is [masked:password]",
        (Masked(secret="password", count=1),),
    )


def test_a_number_that_is_none_hides_no_number_that_begins_within_it() -> None:
    assert MASKER.text("Order 5555 1234, card 4111 1111 1111 1111.") == "Order 5555 1234, card [masked:card]."
    assert MASKER.text("5555 1234 4111 1111 1111 1111") == "5555 1234 [masked:card]"


def test_a_mask_that_somebody_wrote_hides_nothing_behind_it() -> None:
    assert MASKER.text("password=[masked:x]Hunter2xx") == "password=[masked:password]"
    assert MASKER.mask("password=[masked:access_token], said twice") == (
        "password=[masked:access_token], said twice",
        (),
    )
    assert MASKER.mask("[masked:access_token]: abc12345") == ("[masked:access_token]: abc12345", ())


def test_two_secrets_side_by_side_are_two() -> None:
    assert MASKER.text("4111111111111111 4111111111111111") == "[masked:card] [masked:card]"


def test_letters_that_are_longer_when_small_move_no_place() -> None:
    assert MASKER.text("İİİ Passwort: Mondlicht77!x") == "İİİ Passwort: [masked:password]"


@pytest.mark.parametrize(
    ("digits", "length"),
    [
        ("4111 1111 1111 1111", 19),
        ("4111 1111 1111 1111 12", 19),
        ("411111111111111111", 0),
        ("2111 1111 1111 1111", 0),
        ("".join(chr(0xFF10 + int(digit)) for digit in "4" + "1" * 15), 16),
    ],
)
def test_a_card_is_of_a_known_scheme_and_ends_where_its_digits_do(digits: str, length: int) -> None:
    assert card(digits) == length


@pytest.mark.parametrize(
    ("number", "length"),
    [
        ("DE89 3704 0044 0532 0130 00", 27),
        ("DE89 3704 0044 0532 0130 00 EUR", 27),
        ("DE89 3704 0044 0532 0130 01", 0),
        ("DE893704004405320130001", 0),
        ("XX89 3704 0044 0532 0130 00", 0),
        ("DE89 3704", 0),
        ("GT35 ABCD EFGH IJKL MNOP QRST UVWX", 0),
    ],
)
def test_an_account_number_has_the_length_of_its_country(number: str, length: int) -> None:
    assert iban(number) == length


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (user_and_password, "no base64!"),
        (user_and_password, "/w=="),
        (user_and_password, "YWJjZGVm"),
        (discord, "MTIzN.a.b"),
        (discord, "Tm90IGEgbnVtYmVyIQ.a.b"),
        (token, "123456"),
        (token, "two words 2"),
        (token, "config.token2"),
    ],
)
def test_what_has_only_the_form_is_none(check: object, text: str) -> None:
    assert callable(check)
    assert check(text) == 0


def test_no_rule_looks_into_a_mask() -> None:
    for rule in EVERY.rules:
        for one in EVERY.classes:
            assert rule.pattern.search(f" [masked:{one.name}] ") is None


def test_every_check_is_named_by_a_rule() -> None:
    used = {rule.check for rule in (*EVERY.rules, *EVERY.names)}

    assert {name for name, check in CHECKS.items() if check not in used} == set()


def test_what_is_masked_is_what_the_data_says() -> None:
    assert MASK.fullmatch("[masked:cloud_key]")
    assert all(MASK.fullmatch(f"[masked:{one.name}]") for one in MASKER.classes)
