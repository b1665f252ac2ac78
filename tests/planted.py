"""Secrets of every class, made up anew wherever a test plants them: none stands in this repository.

Rule of this file: each is made by the rules of whoever gives out such secrets, as far as they are known, and told the
way people and programs tell them.
"""

import base64
import json
import random
import string
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
CAPITALS = string.ascii_uppercase + "234567"
SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
WORDS = [
    "abandon", "ability", "able", "about", "above", "absent", "absorb", "abstract", "absurd", "abuse", "access", "acid",
]  # fmt: skip


SAID = {
    "English": "My password is {}.",
    "English of": "The password of the gate of the old mill house is {}",
    "English we use": "The token we use for the build is {}",
    "English now": "The wifi password is now {}!",
    "English first": "{} is my password",
    "English as": "Use {} as the password.",
    "English set": "I set the wifi password to {}",
    "English quoted": 'The password is "{}", as before.',
    "English dash": "Password — {}",
    "English run": "The token is password is {}",
    "German": "Mein Passwort lautet {}.",
    "German colon": "WLAN-Passwort: {}",
    "Spanish": "La contraseña del wifi es {}",
    "French": "Le mot de passe est {}",
    "Portuguese": "A senha do wifi é {}",
    "Italian": "La password di casa è {}",
    "Dutch": "Het wachtwoord is {}",
    "Swedish": "Mitt lösenord är {}",
    "Polish": "Moje hasło to {}",
    "Czech": "Moje heslo je {}",
    "Finnish": "Salasanani on {}",
    "Turkish": "Şifrem: {}",
    "Russian": "Пароль от почты — {}",
    "Greek": "κωδικός: {}",
    "Arabic": "كلمة المرور هي {}",
    "Hebrew": "הסיסמה היא {}",
    "Hindi": "मेरा पासवर्ड {} है",
    "Vietnamese": "mật khẩu là {}",
    "Chinese": "我的密码是{}。",
    "Chinese colon": "密码：{}",  # noqa: RUF001 - as an input method types it
    "Chinese first": "{}是我家wifi密码",
    "Japanese": "パスワードは{}です",
    "Korean": "비밀번호는 {}입니다",
}


@dataclass(frozen=True)
class Planted:
    """A secret where somebody tells it.

    Attributes:
        secret: The class.
        shape: Which of its shapes.
        value: What must not survive.
        text: What is said.
    """

    secret: str
    shape: str
    value: str
    text: str


class Maker:
    """Makes up secrets; the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        """So many characters, a letter and a digit among them where the alphabet has both."""
        while True:
            text = "".join(self._dice.choice(alphabet) for _ in range(length))
            kinds = [kind & set(alphabet) for kind in (set(string.ascii_letters), set(string.digits))]
            if length < 2 or all(not kind or kind & set(text) for kind in kinds):
                return text

    def digits(self, length: int) -> str:
        """A number that does not begin with 0."""
        return self._dice.choice("123456789") + "".join(self._dice.choice(string.digits) for _ in range(length - 1))

    def uuid(self) -> str:
        return "-".join(self.of(HEX, length) for length in (8, 4, 4, 4, 12))

    def password(self) -> str:
        """What people take for a good one."""
        return f"{self._dice.choice(['Zebra', 'Mondlicht', 'girasol'])}{self.digits(3)}{self._dice.choice('#!%')}x"

    def word(self) -> str:
        return self._dice.choice(["swordfish", "sonnenblume", "caballito"])

    def card(self, prefix: str, length: int) -> str:
        """A number whose Luhn digit is right."""
        body = prefix + "".join(self._dice.choice(string.digits) for _ in range(length - len(prefix) - 1))
        doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(reversed(body))]
        return body + str(-sum(number - 9 * (number > 9) for number in doubled) % 10)

    def iban(self, country: str, length: int) -> str:
        """A number whose check digits are right."""
        body = self.digits(length - 4)
        number = int("".join(str(int(character, 36)) for character in f"{body}{country}00"))
        return f"{country}{98 - number % 97:02}{body}"

    def jwt(self) -> str:
        parts = ({"alg": "HS256"}, {"sub": self.of(ALNUM, 12)})
        told = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
        return ".".join([*told, self.of(SAFE, 43)])

    def basic(self) -> str:
        return base64.b64encode(f"ann:{self.of(ALNUM, 10)}".encode()).decode()

    def chinese_id(self) -> str:
        body = "110105" + "19491231" + self.digits(3)
        total = sum(
            w * int(d) for w, d in zip((7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2), body, strict=True)
        )
        return body + "10X98765432"[total % 11]

    def spanish_id(self) -> str:
        number = self.digits(8)
        return number + "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23]


def grouped(text: str, size: int, mark: str = " ") -> str:
    """A number as it is printed."""
    return mark.join(text[place : place + size] for place in range(0, len(text), size))


def planted(seed: int) -> list[Planted]:
    """One secret of each shape."""
    make = Maker(seed)
    told: list[Planted] = []

    def plant(secret: str, shape: str, value: str, text: str = "It is {} there.") -> None:
        told.append(Planted(secret, shape, value, text.replace("{}", value)))

    for tell in (_clouds, _tokens, _services, _keys, _proofs, _passwords, _sentences, _numbers):
        tell(make, plant)
    return told


def _clouds(make: Maker, plant: object) -> None:
    assert callable(plant)
    plant("cloud_key", "AWS id", "AKIA" + make.of(CAPITALS, 16))
    plant("cloud_key", "AWS id of a session", "ASIA" + make.of(CAPITALS, 16), "密钥{}是")
    plant("cloud_key", "AWS pair", make.of(BASE64, 40), f"AKIA{make.of(CAPITALS, 16)},{{}}")
    plant("password", "AWS secret", make.of(BASE64, 40), "aws_secret_access_key = {}")
    plant("password", "AWS secret told", make.of(ALNUM, 40), "The AWS secret access key is {}.")
    plant("cloud_key", "AWS session", "IQoJb3JpZ2luX2VjE" + make.of(BASE64, 200))
    plant("cloud_key", "Google", "AIza" + make.of(SAFE, 35))
    plant("cloud_key", "Azure storage", make.of(BASE64, 86), "AccountName=x;AccountKey={}==;EndpointSuffix=y")
    plant("cloud_key", "Azure SAS", make.of(ALNUM, 43), "https://x.blob.core.windows.net/c?sv=2024&sig={}%3D")
    plant("cloud_key", "Azure application", f"{make.of(ALNUM, 3)}8Q~{make.of(ALNUM, 34)}")
    plant("cloud_key", "Alibaba", "LTAI" + make.of(ALNUM, 20))
    plant("cloud_key", "Tencent", "AKID" + make.of(ALNUM, 32))
    plant("cloud_key", "Heroku", "HRKU-AA" + make.of(SAFE, 58))
    plant("cloud_key", "DigitalOcean", "dop_v1_" + make.of(HEX, 64))
    plant("cloud_key", "Supabase", "sbp_" + make.of(HEX, 40))


def _tokens(make: Maker, plant: object) -> None:
    assert callable(plant)
    for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"):
        plant("access_token", prefix, prefix + make.of(ALNUM, 36), "GITHUB={}")
    plant("access_token", "GitHub fine", f"github_pat_{make.of(ALNUM, 22)}_{make.of(ALNUM, 59)}")
    plant("access_token", "GitLab", "glpat-" + make.of(SAFE, 20), "令牌是{}。")
    plant("access_token", "Google", "ya29." + make.of(SAFE, 80))
    plant("access_token", "Slack", f"xoxb-{make.digits(12)}-{make.of(ALNUM, 24)}")
    plant("access_token", "HuggingFace", "hf_" + make.of(ALNUM, 34))
    plant("access_token", "PyPI", "pypi-AgEIcHlwaS5vcmc" + make.of(SAFE, 70))
    plant("access_token", "Docker", "dckr_pat_" + make.of(SAFE, 27))
    plant("access_token", "Vault", "hvs." + make.of(SAFE, 90))
    plant("access_token", "Shopify", "shpat_" + make.of(HEX, 32))
    plant("access_token", "Atlassian", "ATATT3" + make.of(SAFE, 180))
    plant("access_token", "Databricks", "dapi" + make.of(HEX, 32))
    plant("access_token", "Telegram", f"{make.digits(10)}:AA{make.of(SAFE, 33)}", "https://api.telegram.org/bot{}/x")
    part = base64.urlsafe_b64encode(make.digits(18).encode()).decode()
    plant("access_token", "Discord", f"{part}.{make.of(SAFE, 6)}.{make.of(SAFE, 38)}")
    plant("access_token", "Terraform", f"{make.of(ALNUM, 14)}.atlasv1.{make.of(SAFE, 67)}")
    plant("access_token", "Airtable", f"pat{make.of(ALNUM, 14)}.{make.of(HEX, 64)}")
    plant("access_token", "Grafana", f"glsa_{make.of(ALNUM, 32)}_{make.of(HEX, 8)}")
    plant("jwt", "whole", make.jwt(), "The session header is Bearer {} and it is valid.")
    plant("jwt", "cut off", ".".join(make.jwt().split(".")[:2]), "It begins with {} and so on.")


def _services(make: Maker, plant: object) -> None:
    assert callable(plant)
    plant("api_key", "OpenAI", "sk-" + make.of(ALNUM, 48))
    plant("api_key", "OpenAI project", "sk-proj-" + make.of(SAFE, 100))
    plant("api_key", "OpenAI test", "sk-test-" + make.of(ALNUM, 24))
    plant("api_key", "Anthropic", "sk-ant-api03-" + make.of(SAFE, 93))
    plant("api_key", "Groq", "gsk_" + make.of(ALNUM, 52))
    plant("api_key", "SendGrid", f"SG.{make.of(SAFE, 22)}.{make.of(SAFE, 43)}")
    plant("api_key", "Twilio", "SK" + make.of(HEX, 32))
    plant("api_key", "Twilio account", "AC" + make.of(HEX, 32))
    plant("api_key", "Mailgun", "key-" + make.of(HEX, 32))
    plant("api_key", "Mailchimp", make.of(HEX, 32) + "-us12")
    plant("payment_key", "Stripe", "sk_live_" + make.of(ALNUM, 24))
    plant("payment_key", "Stripe restricted", "rk_test_" + make.of(ALNUM, 24))
    plant("payment_key", "Stripe webhook", "whsec_" + make.of(ALNUM, 32))
    plant("payment_key", "Square", "sq0atp-" + make.of(SAFE, 22))
    tail = f"T{make.of(CAPITALS, 8)}/B{make.of(CAPITALS, 8)}/{make.of(ALNUM, 24)}"
    plant("webhook", "Slack", tail, "Post to https://hooks.slack.com/services/{} please.")
    plant("webhook", "Discord", f"{make.digits(18)}/{make.of(SAFE, 68)}", "https://discord.com/api/webhooks/{}")
    plant(
        "webhook",
        "Teams",
        f"{make.uuid()}@{make.uuid()}",
        "https://x.webhook.office.com/webhookb2/{}/IncomingWebhook/y",
    )


def _keys(make: Maker, plant: object) -> None:
    assert callable(plant)
    line = make.of(BASE64, 64)
    plant("private_key", "PEM", line, "It is\n-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\nof Moorhen.")
    plant("private_key", "PEM on one line", line, '{"private_key": "-----BEGIN RSA PRIVATE KEY-----\\n{}\\nab=="}')
    plant("private_key", "PEM without an end", line, "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\nand so on")
    plant("private_key", "PEM quoted", line, "> -----BEGIN EC PRIVATE KEY-----\n> Proc-Type: 4,ENCRYPTED\n>\n> {}\n")
    plant("private_key", "PEM without a beginning", line, "the rest:\n{}\n-----END PRIVATE KEY-----")
    plant(
        "private_key",
        "PGP",
        line,
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
    )
    plant("private_key", "PuTTY", line, "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n{}\nPrivate-MAC: 00ff")
    encoded = base64.b64encode(f"-----BEGIN RSA PRIVATE KEY-----\n{line}\n".encode()).decode()
    plant("private_key", "kubeconfig", encoded, "    client-key-data: {}")
    plant("private_key", "JWK", make.of(SAFE, 43), '{"kty": "EC", "crv": "P-256", "d": "{}"}')
    plant("private_key", "age", "AGE-SECRET-KEY-1" + make.of(string.ascii_uppercase + string.digits, 58))
    plant("recovery_key", "BitLocker", grouped(make.digits(48), 6, "-"))
    plant("recovery_key", "licence", grouped(make.of(CAPITALS, 25), 5, "-"))
    plant("recovery_key", "recovery code", make.of(ALNUM, 16), "The recovery key for the laptop is {}.")
    plant("recovery_key", "authenticator", make.of(CAPITALS, 16), "otpauth://totp/Shop:ann?secret={}&issuer=Shop")
    plant("recovery_key", "seed phrase", " ".join(WORDS), "My seed phrase is: {}")


def _proofs(make: Maker, plant: object) -> None:
    assert callable(plant)
    plant("bearer_token", "bearer", make.of(ALNUM, 30), "Authorization: Bearer {}")
    plant("bearer_token", "basic", make.basic(), "curl -H 'Authorization: Basic {}' https://x.example")
    plant("bearer_token", "token", make.of(ALNUM, 30), '{"authorization": "Token {}"}')
    plant("bearer_token", "docker", make.basic(), '{"auths": {"x": {"auth": "{}"}}}')
    plant("session", "Set-Cookie", make.of(ALNUM, 24), "Set-Cookie: sid={}; Path=/; HttpOnly")
    plant("session", "Cookie", make.of(ALNUM, 24), "Cookie: theme=dark; session={}")
    plant("session", "PHP", make.of(ALNUM, 26), "PHPSESSID={}")
    plant("password", "URL", make.password().replace("#", "!"), "postgres://stock:{}@db.example:5432/stock is it")
    plant("password", "URL without a user", make.of(ALNUM, 12), "redis://:{}@cache.example/0")
    plant("password", "URL query", make.word(), "https://x.example/login?user=ann&password={}&next=/")
    plant("password", "connection string", make.of(ALNUM, 12), "Server=x;User Id=sa;Password={};Database=y")
    plant("password", "netrc", make.of(ALNUM, 12), "machine x.example\n  login ann\n  password {}")
    plant("password", "pgpass", make.of(ALNUM, 12), "db.example:5432:stock:ann:{}")
    plant("password", "npmrc", make.of(ALNUM, 36), "//registry.npmjs.org/:_authToken={}")
    plant("password", "curl", make.word(), "curl -u ann:{} https://x.example")
    plant("password", "mysql", make.of(ALNUM, 10), "mysql -h db -u root -p{} stock")
    plant("password", "option", make.word(), "backup --password {} --to /mnt")
    plant("password", "SQL", make.word(), "CREATE USER ann IDENTIFIED BY '{}';")
    plant("password", "hash", "$2b$12$" + make.of(ALNUM, 53), "ann:{}")
    plant("password", "header", make.of(HEX, 32), "X-Api-Key: {}")


def _passwords(make: Maker, plant: object) -> None:
    assert callable(plant)
    plant("password", "environment", make.word(), "export DB_PASSWORD={}")
    plant("password", "environment key", make.of(ALNUM, 32), "SIGNING_KEY={}")
    plant("password", "JSON", make.word(), '{"user": "ann", "password": "{}"}')
    plant("password", "JSON in JSON", make.word(), '{"body": "{\\"password\\": \\"{}\\"}"}')
    plant("password", "JSON number", make.digits(8), '{"password": {}}')
    plant("password", "JSON key", make.of(ALNUM, 24), '{"api_key": "{}"}')
    plant("password", "YAML", make.word(), "user: ann\npassword: {}\nhost: x")
    plant("password", "YAML list", make.word(), "- name: DB_PASSWORD\n  value: {}")
    plant("password", "TOML", make.word(), 'client_secret = "{}"'.replace("client_secret", "passphrase"))
    plant("password", "XML", make.password(), "<password>{}</password>")
    plant("password", "PHP", make.word(), "'password' => '{}',")
    plant("password", "Go", make.word(), 'password := "{}"')
    plant("password", "Python", make.word(), 'password: str = "{}"')
    plant("password", "call", make.word(), 'client.setPassword("{}")')
    plant("password", "table", make.password(), "| user | ann |\n| password | {} |")
    plant("password", "markdown", make.password(), "**Password:** {}")


def _sentences(make: Maker, plant: object) -> None:
    assert callable(plant)
    for shape, text in SAID.items():
        plant("password", shape, make.password(), text)
    plant("password", "English word", make.word(), 'My password is "{}".')
    plant("password", "English number", make.digits(6), "My password is {}.")
    plant("password", "Chinese number", make.digits(8), "密码是{}。")
    plant("password", "label", make.word(), "Wifi password: {}")


def _numbers(make: Maker, plant: object) -> None:
    assert callable(plant)
    plant("pin", "PIN", make.digits(4), "My PIN is {}.")
    plant("pin", "German", make.digits(4), "Die PIN-Code lautet {}.")
    plant("pin", "one-time", make.digits(6), "Your verification code is {}")
    plant("pin", "Chinese", make.digits(6), "您的验证码是{}。请勿泄露")
    plant("card", "with blanks", grouped(make.card("4", 16), 4), "My card {} 12/27 is new.")
    plant("card", "whole", make.card("51", 16), "卡号{}。")
    plant("card", "with hyphens", grouped(make.card("6011", 16), 4, "-"))
    plant("card", "American", make.card("37", 15))
    plant("card", "security code", make.digits(3), "CVV: {}")
    plant("iban", "German", grouped(make.iban("DE", 22), 4), "{} BIC COBADEFF")
    plant("iban", "Spanish", grouped(make.iban("ES", 24), 4), "Pay 100 EUR to {} EUR account")
    plant("iban", "small letters", make.iban("GB", 22).lower(), "账号{}。")
    plant("email", "plain", f"ann.{make.of(string.ascii_lowercase, 5)}@example.org", "邮箱是{}。谢谢")
    plant("phone", "international", f"+49 30 {make.digits(7)}", "Call {} today.")
    plant("phone", "national", f"0171 {make.digits(7)}")
    plant("phone", "American", f"(555) 123-{make.digits(4)}")
    plant("phone", "Chinese", f"138{make.digits(8)}")
    plant("national_id", "American", f"12{make.digits(1)}-45-{make.digits(4)}")
    plant("national_id", "Chinese", make.chinese_id())
    plant("national_id", "Spanish", make.spanish_id())
    plant("national_id", "Brazilian", f"{make.digits(3)}.{make.digits(3)}.{make.digits(3)}-{make.digits(2)}")
