"""Settings: every one a field with unit and range, read from ``MEMLAKE_*`` once, in the command line.

Rule of this file: nothing else reads the environment. A new setting is a new field; ``memlake settings`` and the table
in ``docs/operations.md`` are made from it.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from schemas.conversation import Name, Scope, names_somebody
from schemas.errors import Misconfigured

if TYPE_CHECKING:
    from lakehouse.retrieval.config import RAGConfig
    from streams.masking import Masker

PREFIX = "MEMLAKE_"


def _unit(unit: str) -> dict[str, Any]:
    return {"unit": unit}


class Settings(BaseModel):
    """All that can be set. Each field is ``MEMLAKE_<NAME>`` in the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True)

    # Where things are
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")] = "memlake"
    """The deployment: prefix of topics, group and client ids, so that two on one broker never meet."""
    home: Path = Path(platformdirs.user_data_dir("memlake", appauthor=False))
    """Everything of a deployment on disk."""
    lake: str = ""
    """Folder or object-store URI of the tables; empty is a folder in home, named by the deployment."""
    cache: Path = Path(platformdirs.user_cache_dir("memlake", appauthor=False))
    """What can be fetched or made again: broker jars, exported models; shared by all deployments."""
    project: Name = "default"
    """Project of the command line, where --project is not given."""
    user: Name = "default"
    """User of the command line, where --user is not given."""

    # The broker
    broker: str = ""
    """Bootstrap servers, host:port[,…]; empty is the broker that memlake runs itself."""
    broker_memory_mib: Annotated[int, Field(ge=256, le=65_536, json_schema_extra=_unit("MiB"))] = 512
    """Heap of the broker that memlake runs itself."""
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    """How to talk to the broker."""
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "PLAIN"
    """How to prove who we are, with a SASL protocol."""
    sasl_username: str = ""
    """User at the broker, with a SASL protocol."""
    sasl_password: SecretStr = SecretStr("")
    """Password at the broker, with a SASL protocol."""
    ssl_ca_file: Path | None = None
    """Certificate authority of the broker, with an SSL protocol; empty is the system's."""
    partitions: Annotated[int, Field(ge=1, le=1000)] = 4
    """Partitions of each scope-keyed topic, and shards of the lake. More of them = a new deployment name."""
    replication: Annotated[int, Field(ge=1, le=7)] = 1
    """Copies of each topic."""
    input_retention_days: Annotated[float, Field(gt=0, le=3650, json_schema_extra=_unit("days"))] = 7
    """How long turns and commands stay in their inboxes."""
    session_timeout_s: Annotated[float, Field(ge=6, le=300, json_schema_extra=_unit("s"))] = 10
    """A worker that is silent this long is taken for dead and its partitions go to others."""
    send_timeout_s: Annotated[float, Field(gt=0, le=600, json_schema_extra=_unit("s"))] = 20
    """Deadline of one send to the broker, after which the step is tried again."""

    # Work
    batch_size: Annotated[int, Field(ge=1, le=5000, json_schema_extra=_unit("messages"))] = 100
    """The largest batch an agent handles at once."""
    batch_bytes: Annotated[int, Field(ge=1024, le=1 << 30, json_schema_extra=_unit("bytes"))] = 16 * 1024 * 1024
    """The largest batch an agent handles at once, and what a partition holds for it, by the size of keys and values."""
    batch_linger_ms: Annotated[float, Field(ge=0, le=1000, json_schema_extra=_unit("ms"))] = 3
    """How long a batch waits for one more message."""
    buffer_size: Annotated[int, Field(ge=1, le=100_000, json_schema_extra=_unit("messages"))] = 32
    """Messages that wait for an agent beside those its partitions hold; when it is full, consumption pauses."""
    attempts: Annotated[int, Field(ge=1, le=100)] = 3
    """Tries for a message that fails by itself, before it becomes a dead letter."""
    retry_max_s: Annotated[float, Field(gt=0, le=600, json_schema_extra=_unit("s"))] = 10
    """The longest pause between two tries while broker, lake, model or disk is away."""
    stop_timeout_s: Annotated[float, Field(gt=0, le=600, json_schema_extra=_unit("s"))] = 10
    """How long a stop waits for the batch in hand."""
    session_turns: Annotated[int, Field(ge=0, le=100, json_schema_extra=_unit("turns"))] = 6
    """Earlier turns of the same session that the extractor sees."""
    similarity_threshold: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Cosine from which a known memory is held against a new fact."""
    max_similar_results: Annotated[int, Field(ge=1, le=20)] = 5
    """Known memories held against a new fact at most."""
    turn_deletes: bool = True
    """Whether a user's plain request to forget deletes (and can be restored)."""
    profile: Literal["all", "technical", "personal"] = "all"
    """What is worth remembering of what is said: everything, what is of a trade, or what is of a person."""
    scope_cache_rows: Annotated[int, Field(ge=1000, le=100_000_000, json_schema_extra=_unit("rows"))] = 50_000
    """Rows of recently written scopes that a worker keeps in memory."""

    # Embedding
    embedder: str = "all-MiniLM-L6-v2"
    """Model: the bundled one, or a sentence-transformers model by name or path."""
    embedder_threads: Annotated[int, Field(ge=1, le=64, json_schema_extra=_unit("threads"))] = 1
    """Threads of the embedder. More than one on busy cores is slower."""
    embedder_cache: Annotated[int, Field(ge=0, le=10_000_000, json_schema_extra=_unit("texts"))] = 20_000
    """Embeddings kept in memory by the text's hash."""

    # A reranker, which need not be
    reranker: str = ""
    """Cross-encoder by name or path that reads the best results again with the question; empty is none."""
    rerank_pool: Annotated[int, Field(ge=1, le=50, json_schema_extra=_unit("results"))] = 50
    """Results that the reranker reads, or as many as are asked for where that is more; no others answer then."""

    # Documentation, which only advises
    docs: Annotated[str, Field(max_length=20_000)] = "python_docs:python=https://docs.python.org/3/"
    """Sites that may be asked: SOURCE:PROJECT[@VERSION]=URL, apart by commas; a comma alone is none."""
    docs_loopback: bool = False
    """Whether sites on this machine may be asked over plain HTTP: for a copy of your own, and for tests."""
    docs_contact: Annotated[str, Field(max_length=200, pattern=r"^[\x20-\x7e]*$")] = ""
    """Whom the operator of a site can write to; told with every request."""
    docs_deadline_ms: Annotated[float, Field(gt=0, le=5000, json_schema_extra=_unit("ms"))] = 100
    """How long a question waits for documentation, all in all; what comes later is there for the next."""

    # A language model (optional)
    llm_url: Annotated[str, Field(pattern=r"^(https?://[^\s?#@]+)?$")] = ""
    """Base of an OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1; empty is none: rules do all."""
    llm_model: Annotated[str, Field(max_length=256)] = ""
    """The model, as the endpoint knows it."""
    llm_api_key: SecretStr = SecretStr("")
    """Sent to the endpoint as bearer token; empty sends none."""
    llm_use: Literal["off", "decisions", "extraction", "both"] = "off"
    """What turns are read with a model for; rules come first, and answer where the model fails."""
    llm_timeout_s: Annotated[float, Field(gt=0, le=60, json_schema_extra=_unit("s"))] = 4
    """Time for one try at the endpoint."""
    llm_deadline_s: Annotated[float, Field(gt=0, le=60, json_schema_extra=_unit("s"))] = 8
    """Time for one question to the model, with all tries and pauses."""
    llm_budget_s: Annotated[float, Field(gt=0, le=120, json_schema_extra=_unit("s"))] = 10
    """Time for all questions of one batch; when it is spent, rules answer the rest."""
    llm_concurrency: Annotated[int, Field(ge=1, le=64, json_schema_extra=_unit("calls"))] = 4
    """Calls of a worker that are under way at once."""
    llm_retries: Annotated[int, Field(ge=0, le=10)] = 2
    """Further tries where the endpoint is at fault."""
    llm_max_bytes: Annotated[int, Field(ge=1024, le=16_777_216, json_schema_extra=_unit("bytes"))] = 262_144
    """The largest answer that is read."""
    llm_max_tokens: Annotated[int, Field(ge=64, le=32_768, json_schema_extra=_unit("tokens"))] = 1024
    """The longest answer that is asked for; twice as long once, where it was cut off."""
    llm_breaker_failures: Annotated[int, Field(ge=1, le=100)] = 5
    """Failed questions in a row after which the endpoint is left alone."""
    llm_breaker_cooloff_s: Annotated[float, Field(gt=0, le=3600, json_schema_extra=_unit("s"))] = 30
    """How long the endpoint is left alone; then one question tries it."""
    llm_price_in: Annotated[float, Field(ge=0, le=1_000_000, json_schema_extra=_unit("per million tokens"))] = 0
    """Price of what is sent to the model, for the metric of cost."""
    llm_price_out: Annotated[float, Field(ge=0, le=1_000_000, json_schema_extra=_unit("per million tokens"))] = 0
    """Price of what the model answers, for the metric of cost."""

    # Secrets
    mask_off: str = ""
    """Classes of secrets that are not masked, separated by commas."""
    mask_on: str = ""
    """Classes that are masked though by default they are not, such as email, separated by commas."""
    mask_rules: Path | None = None
    """YAML file of further rules of masking; classes that it brings along are masked."""

    # Answering
    query_concurrency: Annotated[int, Field(ge=1, le=1000, json_schema_extra=_unit("queries"))] = 16
    """Questions worked on at once."""
    retrieval_timeout_s: Annotated[float, Field(gt=0, le=600, json_schema_extra=_unit("s"))] = 5
    """Time for one answer from when it is taken up; what is missing by then is said in its degraded."""

    search_cache_rows: Annotated[int, Field(ge=1000, le=100_000_000, json_schema_extra=_unit("rows"))] = 50_000
    """Rows of recently asked scopes that a worker keeps in memory."""
    search_with: Annotated[str, Field(pattern=r"^[a-z, ]*$")] = "history, time, nameless, recency, feedback"
    """What is done with a question, separated by commas; there are also synonyms, decomposition and symbols."""
    context_tokens: Annotated[int, Field(ge=50, le=100_000, json_schema_extra=_unit("tokens"))] = 2_000
    """The longest context that is given for a prompt."""

    # Maintenance and health
    maintain_commits: Annotated[int, Field(ge=1, le=100_000, json_schema_extra=_unit("commits"))] = 200
    """Commits after which even the largest table is compacted; a small one is compacted sooner."""
    maintain_idle_s: Annotated[float, Field(ge=1, le=86_400, json_schema_extra=_unit("s"))] = 5
    """Idle time after which a table with new commits is compacted."""
    keep_versions_s: Annotated[float, Field(ge=1, le=31_536_000, json_schema_extra=_unit("s"))] = 10
    """How long old versions of a table's files stay readable: longer than the longest read."""
    web_host: str = "127.0.0.1"
    """Address of the worker's health and metrics endpoint."""
    web_port: Annotated[int, Field(ge=0, le=65_535)] = 0
    """Port of the worker's health and metrics endpoint; 0 is any free one, told at the start."""
    unhealthy_after_s: Annotated[float, Field(ge=1, le=3600, json_schema_extra=_unit("s"))] = 20
    """A worker that has work and makes no progress this long is unhealthy."""
    exit_after_s: Annotated[float, Field(ge=10, le=86_400, json_schema_extra=_unit("s"))] = 900
    """A worker that is unhealthy this long exits with an error, so that its supervisor starts it again."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least that is logged."""
    log_format: Literal["auto", "json", "text"] = "auto"
    """One JSON object a line, or text; auto is text on a terminal."""

    fault: Annotated[str, Field(pattern=r"^([a-z.-]+(:[1-9][0-9]*)?)?$")] = ""
    """For tests of recovery only: the point in the work at which the process is killed."""

    _named = field_validator("project", "user")(names_somebody)

    @field_validator("broker")
    @classmethod
    def _is_host_and_port(cls, value: str) -> str:
        for server in filter(None, value.split(",")):
            host, _, port = server.strip().rpartition(":")
            if not host or not port.isdecimal() or not 0 < int(port) < 65_536:  # noqa: PLR2004 - ports
                raise ValueError(f"{server!r} is not host:port")
        return value

    @model_validator(mode="after")
    def _masking_is_consistent(self) -> Self:
        if self.mask_off or self.mask_on or self.mask_rules:
            try:
                self.masker()
            except Misconfigured as error:
                raise ValueError(str(error)) from error
        return self

    @model_validator(mode="after")
    def _security_is_consistent(self) -> Self:
        sasl = self.security_protocol.startswith("SASL")
        if not sasl and (self.sasl_username or self.sasl_password.get_secret_value()):
            raise ValueError(
                "SASL_USERNAME or SASL_PASSWORD is set, but SECURITY_PROTOCOL is not SASL_SSL or "
                "SASL_PLAINTEXT: credentials would not be used"
            )
        if sasl and not (self.sasl_username and self.sasl_password.get_secret_value()):
            raise ValueError("SECURITY_PROTOCOL needs SASL_USERNAME and SASL_PASSWORD")
        if self.ssl_ca_file is not None and not self.ssl_ca_file.is_file():
            raise ValueError(f"SSL_CA_FILE: there is no file {self.ssl_ca_file}")
        return self

    @model_validator(mode="after")
    def _model_is_consistent(self) -> Self:
        if not self.llm_url and self.llm_use != "off":
            raise ValueError(f"LLM_USE is {self.llm_use}, but LLM_URL is not set: there is no model to ask")
        if self.llm_url and not self.llm_model:
            raise ValueError("LLM_URL is set, but LLM_MODEL is not: say which model to ask for")
        times = ("llm_timeout_s", "llm_deadline_s", "llm_budget_s", "unhealthy_after_s")
        for shorter, longer in pairwise(times):
            if self.llm_url and getattr(self, shorter) > getattr(self, longer):
                raise ValueError(
                    f"{shorter.upper()} is {getattr(self, shorter):g} s, longer than {longer.upper()} with "
                    f"{getattr(self, longer):g} s: a batch must end before its worker is taken for stuck"
                )
        return self

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Read ``MEMLAKE_*``; an empty value is the default.

        Raises:
            Misconfigured: All faults at once, each with the variable's name.
        """
        given = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environ.items()
            if name.startswith(PREFIX) and value != "" and name.removeprefix(PREFIX).lower() in cls.model_fields
        }
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False)
            told = [
                f"{PREFIX}{'.'.join(map(str, f['loc'])).upper() or '*'}: {f['msg'].removeprefix('Value error, ')}"
                for f in faults
            ]
            from streams.masking import Masker  # noqa: PLC0415 - see masker

            raise Misconfigured(Masker.made().text("\n".join(told))) from error

    def to_env(self) -> dict[str, str]:
        """The settings as ``MEMLAKE_*`` variables, for a process that works for the same deployment."""
        told = {}
        for name in self.model_fields_set:
            value = getattr(self, name)
            plain = value.get_secret_value() if isinstance(value, SecretStr) else value
            if plain is not None:
                told[f"{PREFIX}{name.upper()}"] = str(plain)
        return told

    def masker(self) -> "Masker":
        """What hides secrets in all that comes in and in all that is told; make it once.

        Raises:
            Misconfigured: A class is unknown, or something is wrong with the file of rules.
        """
        from streams.masking import Masker, classes_of  # noqa: PLC0415 - most programs that read settings mask nothing

        more = None
        if self.mask_rules is not None:
            try:
                more = self.mask_rules.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise Misconfigured(f"MASK_RULES: {self.mask_rules} cannot be read as text: {error}") from error
        return Masker.made(off=classes_of(self.mask_off), on=classes_of(self.mask_on), more=more)

    @property
    def lake_uri(self) -> str:
        """Where the tables are."""
        return self.lake or str(self.home / self.name / "lake")

    @property
    def rag_config(self) -> "RAGConfig":
        """Budgets and features of retrieval.

        Raises:
            Misconfigured: A name in ``search_with`` is unknown.
        """
        from lakehouse.retrieval.config import RAGConfig, searched_with  # noqa: PLC0415 - only workers search

        switches, recency, feedback = searched_with(self.search_with)
        return RAGConfig(
            timeout_s=self.retrieval_timeout_s,
            cache_rows=self.search_cache_rows,
            context_tokens=self.context_tokens,
            rerank_pool=self.rerank_pool,
            switches=switches,
            recency=recency,
            feedback=feedback,
        )

    @property
    def scope(self) -> Scope:
        """The scope of the command line."""
        return Scope(project_id=self.project, user_id=self.user)


@dataclass(frozen=True)
class SettingRow:
    """One setting as it is shown."""

    name: str
    value: str
    default: str
    unit: str
    range: str
    source: str
    meaning: str


def unknown_settings(environ: Mapping[str, str]) -> dict[str, str | None]:
    """``MEMLAKE_*`` variables that are no settings, each with the setting it may have meant."""
    known = [name.upper() for name in Settings.model_fields]
    told = [name.removeprefix(PREFIX) for name in environ if name.startswith(PREFIX)]
    meant = {name: difflib.get_close_matches(name, known, 1) for name in sorted(told) if name not in known}
    return {PREFIX + name: PREFIX + close[0] if close else None for name, close in meant.items()}


def setting_rows(settings: Settings, environ: Mapping[str, str]) -> list[SettingRow]:
    """Every setting with value, default, unit, range and source; secrets masked."""
    schema, masker = Settings.model_json_schema()["properties"], settings.masker()
    rows = []
    for name, field in Settings.model_fields.items():
        variable, told = f"{PREFIX}{name.upper()}", schema[name]
        rows.append(
            SettingRow(
                name=variable,
                value=masker.text(str(getattr(settings, name))),
                default=str(field.get_default()),
                unit=told.get("unit", ""),
                range=_range(told),
                source="environment" if environ.get(variable) else "default",
                meaning=" ".join((field.description or "").split()),
            )
        )
    return rows


def _range(told: Mapping[str, Any]) -> str:
    if "enum" in told:
        return " | ".join(map(str, told["enum"]))
    low = told.get("minimum", told.get("exclusiveMinimum"))
    high = told.get("maximum")
    if low is None and high is None:
        return ""
    return f"{'>' if 'exclusiveMinimum' in told else ''}{low}…{high}"
