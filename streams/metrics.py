"""The metrics, one line each with kind and meaning; a misspelt name is a type error.

Rule of this file: declarations. Names start with ``memlake_``; times are seconds.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """All metrics of a process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        registry = self.registry
        self.handled = Counter(
            "memlake_handled_total", "Messages handled to the end, by agent", ("agent",), registry=registry
        )
        self.events = Counter("memlake_events_total", "Memory events written, by event", ("event",), registry=registry)
        self.skipped = Counter("memlake_skipped_total", "Pieces of text that became no fact", registry=registry)
        self.masked = Counter("memlake_masked_total", "Secrets masked, by class", ("secret",), registry=registry)
        self.dead = Counter(
            "memlake_dead_letters_total", "Messages given up, by topic and error", ("topic", "error"), registry=registry
        )
        self.forwarded = Counter(
            "memlake_forwarded_total",
            "Messages moved to their scope's partition, by topic",
            ("topic",),
            registry=registry,
        )
        self.repeats = Counter(
            "memlake_repeats_total", "Turns and commands that came again, by agent", ("agent",), registry=registry
        )
        self.retries = Counter(
            "memlake_retries_total", "Steps tried again, by agent and reason", ("agent", "reason"), registry=registry
        )
        self.late_queries = Counter(
            "memlake_late_queries_total", "Questions whose deadline had passed on arrival", registry=registry
        )
        self.degraded = Counter(
            "memlake_degraded_total", "Answers that lacked something, by reason", ("reason",), registry=registry
        )
        self.batch_size = Histogram(
            "memlake_batch_messages", "Messages in a batch, by agent", ("agent",),
            buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500), registry=registry,
        )  # fmt: skip
        self.batch_seconds = Histogram(
            "memlake_batch_seconds", "Time for a batch, by agent", ("agent",), buckets=FAST, registry=registry
        )
        self.step_seconds = Histogram(
            "memlake_step_seconds", "Time for a step of the work, by step", ("step",), buckets=FAST, registry=registry
        )
        self.lag = Gauge(
            "memlake_lag_messages", "Messages not yet handled, by topic and partition", ("topic", "partition"),
            registry=registry,
        )  # fmt: skip
        self.loop_delay = Gauge("memlake_loop_delay_seconds", "How late the event loop is", registry=registry)
        self.healthy = Gauge("memlake_healthy", "1 while the worker makes progress", registry=registry)
        self.maintenance = Counter(
            "memlake_maintenance_total", "Compactions, by table and outcome", ("table", "outcome"), registry=registry
        )
        self.fragments = Gauge(
            "memlake_table_fragments", "Data files of a table after its last compaction", ("table",), registry=registry
        )
