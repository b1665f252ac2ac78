"""The metrics, one line each with kind and meaning; a misspelt name is a type error.

Rule of this file: declarations. Names start with ``memlake_``; times are seconds.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500)


class Metrics:
    """All metrics of a process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        # what came in
        self.handled = self._counter("handled_total", "Messages handled to the end, by agent", "agent")
        self.forwarded = self._counter(
            "forwarded_total", "Messages moved to their scope's partition, by topic", "topic"
        )
        self.repeats = self._counter("repeats_total", "Turns and commands that came again, by agent", "agent")
        self.dead = self._counter("dead_letters_total", "Messages given up, by topic and error", "topic", "error")
        self.late_queries = self._counter("late_queries_total", "Questions whose deadline had passed on arrival")
        # what became of it
        self.skipped = self._counter("skipped_total", "Pieces of text that became no fact")
        self.masked = self._counter("masked_total", "Secrets masked, by class", "secret")
        self.events = self._counter("events_total", "Memory events written, by event", "event")
        self.degraded = self._counter("degraded_total", "Answers that lacked something, by reason", "reason")
        # documentation
        self.documents = self._counter("documents_total", "What became of documentation, by action", "action")
        self.lookups = self._counter(
            "lookups_total", "Questions to documentation, by stage and outcome", "stage", "outcome"
        )
        # the language model
        self.llm_calls = self._counter(
            "llm_calls_total", "Questions to the model, by kind and outcome", "kind", "outcome"
        )
        self.llm_requests = self._counter("llm_requests_total", "Answers that the endpoint gave, by kind", "kind")
        self.llm_seconds = self._histogram("llm_seconds", "Time for a question to the model, by kind", FAST, "kind")
        self.llm_tokens = self._counter("llm_tokens_total", "Tokens, by direction (in, out)", "direction")
        self.llm_cost = self._counter("llm_cost_total", "What the tokens cost, by the prices of the settings")
        self.llm_breaker = self._gauge("llm_breaker", "0: the model is asked, 1: once to see, 2: left alone")
        # how the work goes
        self.retries = self._counter("retries_total", "Steps tried again, by agent and reason", "agent", "reason")
        self.batch_size = self._histogram("batch_messages", "Messages in a batch, by agent", SIZES, "agent")
        self.batch_seconds = self._histogram("batch_seconds", "Time for a batch, by agent", FAST, "agent")
        self.lag = self._gauge("lag_messages", "Messages not yet handled, by topic and partition", "topic", "partition")
        self.loop_delay = self._gauge("loop_delay_seconds", "How late the event loop is")
        self.healthy = self._gauge("healthy", "1 while the worker makes progress")
        self.maintenance = self._counter("maintenance_total", "Compactions, by table and outcome", "table", "outcome")
        self.fragments = self._gauge("table_fragments", "Data files of a table after its last compaction", "table")

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"memlake_{name}", meaning, labels, registry=self.registry)

    def _gauge(self, name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(f"memlake_{name}", meaning, labels, registry=self.registry)

    def _histogram(self, name: str, meaning: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"memlake_{name}", meaning, labels, buckets=buckets, registry=self.registry)
