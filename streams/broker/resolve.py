"""Make ``jars.lock`` anew, for a newer Kafka: ``python -m streams.broker.resolve > jars.lock``, then move it here.

Rule of this file: a tool of the developers; nothing imports it. It resolves the endpoints below with all they need and
prints what was found. ``jars.py`` fetches just that and nothing else.
"""

import sys
import tempfile
from pathlib import Path

HEAD = "# The jars of the broker: coordinates, SHA-256, bytes. Made by streams/broker/resolve.py."
ENDPOINTS = (
    "org.apache.kafka:kafka_2.13:4.4.0",
    # Kafka logs by slf4j and brings no backend for it: without this one a broker that fails says nothing.
    "org.apache.logging.log4j:log4j-slf4j-impl:2.25.5",
)


def rows() -> list[str]:
    """One row a jar, sorted. Needs a network and about 20 s."""
    from jgo.env import EnvironmentBuilder  # noqa: PLC0415 - heavy, and only here
    from jgo.maven import MavenContext  # noqa: PLC0415

    found = set()
    with tempfile.TemporaryDirectory() as scratch:
        context = MavenContext(repo_cache=Path(scratch) / "repository")
        builder = EnvironmentBuilder(context=context, cache_dir=Path(scratch) / "environments")
        for endpoint in ENDPOINTS:
            # Each by itself: resolved together, the one's dependency management would change the other's versions.
            environment = builder.from_endpoint(endpoint)
            size = {jar.name: jar.stat().st_size for jar in environment.all_jars}
            for jar in environment.lockfile.dependencies if environment.lockfile else ():
                coordinates = f"{jar.groupId}:{jar.artifactId}:{jar.version}"
                found.add(f"{coordinates} {jar.sha256} {size[f'{jar.artifactId}-{jar.version}.jar']}")
    return sorted(found)


if __name__ == "__main__":
    sys.stdout.write("\n".join([HEAD, *rows(), ""]))
