"""``python -m streams`` is ``memlake``, for a process that starts another."""

from streams.cli import main

main()
