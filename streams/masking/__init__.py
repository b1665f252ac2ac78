"""Secrets and personal data are replaced by ``[masked:<class>]`` at the border, before anything else sees a text.

Rule of this room: pure functions of the text and the settings, in time linear in the text. Shapes, words and checks'
lists are data (``data/secrets.yaml``); code knows none of them.
"""

from streams.masking.masker import Masker, classes_of
from streams.masking.rules import SecretClass

__all__ = ["Masker", "SecretClass", "classes_of"]
