"""Importers: what well-known chat exports become as turns.

Rule of this room: one module for each format, a pure function from the export's JSON values to turns. Only ``reading``
opens files. Every message of an export becomes one turn, is told as left out with its reason, or is a fault that names
its place; nothing is skipped in silence. Ids derive from the source's own, and no clock is read.
"""
