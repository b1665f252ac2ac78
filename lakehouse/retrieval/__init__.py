"""Answers to questions: how a question is understood, searched and answered.

Rule of this package: what a question means is told by pure modules (``asked``, ``expansion``, ``history``, ``moments``,
``names``, ``understanding``) from data beside them; the others search.
"""
