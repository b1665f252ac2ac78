"""An optional language model that proposes facts and decisions; rules dispose.

Rule of this package: everything a model says is untrusted input, and a model that fails costs quality and never a
fact. Only ``client`` and ``asking`` wait; all else is pure, and reads a recorded answer as it read the first one.
"""
