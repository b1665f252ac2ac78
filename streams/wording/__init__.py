"""What the rules of extraction and of decision both know of wording: stems, and changes that a sentence reports.

Rule of this package: pure functions of a text; what a language says how is data.
"""
