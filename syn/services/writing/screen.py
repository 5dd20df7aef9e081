"""The screen: what has to be held until a person looked at it (design 10, ADR 0021).

Private keys and common tokens, by the detectors of `detect-secrets` (their patterns alone: nothing
is looked up, nothing leaves the machine) and a few for newer forms; characters that are hidden or
turn text around, by the rules that the terminal output escapes with; control characters. It holds,
it never rewrites, and what it says of a secret never repeats it.
"""

import importlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

from syn.model.fact import Fact
from syn.model.payload import Lexical, Mapping, Value
from syn.report.escape import hidden

Kind = Literal["secret", "hidden-character", "control-character"]


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """One thing the screen holds."""

    line: int
    """Line of the file, from 1; 0 for its name."""
    kind: Kind
    what: str
    """`GitHub Token`, `U+202E RIGHT-TO-LEFT OVERRIDE`; never the secret itself."""


class _Detector(Protocol):
    secret_type: str

    def analyze_string(self, string: str) -> Iterator[str]:
        """The secrets in a line."""


_PLUGINS = (
    *("aws.AWSKeyDetector", "azure_storage_key.AzureStorageKeyDetector"),
    *("basic_auth.BasicAuthDetector", "cloudant.CloudantDetector"),
    *("discord.DiscordBotTokenDetector", "github_token.GitHubTokenDetector"),
    *("gitlab_token.GitLabTokenDetector", "ibm_cloud_iam.IbmCloudIamDetector"),
    *("ibm_cos_hmac.IbmCosHmacDetector", "jwt.JwtTokenDetector", "mailchimp.MailchimpDetector"),
    *("npm.NpmDetector", "openai.OpenAIDetector", "private_key.PrivateKeyDetector"),
    *("pypi_token.PypiTokenDetector", "sendgrid.SendGridDetector", "slack.SlackDetector"),
    *("softlayer.SoftlayerDetector", "square_oauth.SquareOAuthDetector", "stripe.StripeDetector"),
    *("telegram_token.TelegramBotTokenDetector", "twilio.TwilioKeyDetector"),
)
_MORE = re.compile(
    r"(?P<private_key>BEGIN ENCRYPTED PRIVATE KEY|PuTTY-User-Key-File-3)"
    r"|(?P<github_token>github_pat_[A-Za-z0-9_]{22,})"
    r"|(?P<google_api_key>AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-]))"
    r"|(?P<google_oauth_token>ya29\.[0-9A-Za-z_-]{20,})"
    r"|(?P<model_provider_key>sk-(?:ant|proj|svcacct|or)-[A-Za-z0-9_-]{20,})"
    r"|(?P<hugging_face_token>\bhf_[A-Za-z0-9]{30,})"
    r"|(?P<age_secret_key>AGE-SECRET-KEY-1[0-9A-Z]{58})"
    r"|(?P<slack_token>xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]+)"
    r"|(?P<digitalocean_token>do[opr]_v1_[a-f0-9]{64})"
)
_WORTH = re.compile(r"\S{16,}|://[^/\s]*:[^/\s]*@|BEGIN [A-Z0-9 ]*PRIVATE|PuTTY-User-Key")
"""A line without this holds nothing that any detector finds: the library is loaded only then."""


def screen(path: str, data: bytes, fact: Fact | None) -> Counter[Hit]:
    """Everything in a file, or in its name, that has to be held.

    Args:
        path: from the root.
        data: the exact bytes.
        fact: as it was read: escapes in its front matter hide nothing.
    """
    text = data.decode("utf-8", "replace")
    found: Counter[Hit] = Counter(_hidden(path, 0))
    found.update(_hidden(text.removeprefix("\ufeff"), 1))
    found.update(_secrets(text))
    if fact is not None:
        for line, value in _scalars(fact):
            if value not in text:
                found.update(Hit(line, hit.kind, hit.what) for hit in _hidden(value, 0))
                found.update(Hit(line, hit.kind, hit.what) for hit in _secrets(value))
    return found


def new_hits(after: Counter[Hit], before: Counter[Hit]) -> list[Hit]:
    """What a change brings in, sorted; a hit that only moved to another line is no new one."""
    left = Counter((hit.kind, hit.what) for hit in before.elements())
    found = []
    for hit in sorted(after.elements()):
        if left[hit.kind, hit.what]:
            left[hit.kind, hit.what] -= 1
        else:
            found.append(hit)
    return found


def _hidden(text: str, first: int) -> Iterator[Hit]:
    for offset, char in hidden(text):
        line = first + text.count("\n", 0, offset) if first else 0
        control = unicodedata.category(char) == "Cc"
        name = "" if control else f" {unicodedata.name(char, '')}".rstrip()
        yield Hit(
            line,
            "control-character" if control else "hidden-character",
            f"U+{ord(char):04X}{name}",
        )


def _secrets(text: str) -> Iterator[Hit]:
    lines = text.split("\n")
    worth = [(number, line) for number, line in enumerate(lines, 1) if _WORTH.search(line)]
    if not worth:
        return
    together = "\n".join(line for _, line in worth)
    detectors = [found for found in _detectors() if any(found.analyze_string(together))]
    for number, line in worth:
        names = {str(found.lastgroup).replace("_", " ") for found in _MORE.finditer(line)}
        names |= {found.secret_type for found in detectors if any(found.analyze_string(line))}
        yield from (Hit(number, "secret", name) for name in sorted(names))


@cache
def _detectors() -> tuple[_Detector, ...]:
    made = []
    for plugin in _PLUGINS:
        module, _, name = plugin.partition(".")
        found = importlib.import_module(f"detect_secrets.plugins.{module}")
        made.append(getattr(found, name)())
    return tuple(made)


def _scalars(fact: Fact) -> Iterator[tuple[int, str]]:
    """Every text of the front matter, keys too, with the line of its top-level key."""
    for key, value in fact.fields.items:
        line = fact.line_of(key)
        yield line, key
        yield from ((line, text) for text in _texts(value))


def _texts(value: Value) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Lexical(text=text):
            yield text
        case Mapping(items=items):
            for key, inner in items:
                yield key
                yield from _texts(inner)
        case _:
            for inner in value:
                yield from _texts(inner)
