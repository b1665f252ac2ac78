"""The broker that memlake runs itself: a real single-node Apache Kafka, on loopback only.

Rule of this package: it starts, stops and finds one Kafka per home, and knows nothing of topics or messages. What Kafka
is told stands in ``config.py``, what is fetched in ``jars.lock``; importing the package loads no Java and no resolver.
"""

from streams.broker.local import BrokerStatus, LocalBroker, bootstrap_of

__all__ = ["BrokerStatus", "LocalBroker", "bootstrap_of"]
