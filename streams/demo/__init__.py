"""``memlake demo``: the main job, end to end, on a real conversation, with a restart of everything at the end."""

from streams.demo.play import BUNDLED, play

__all__ = ["BUNDLED", "play"]
