"""What is *known*: versioned rows, search, embeddings, maintenance.

Rule of this room: it knows nothing of Kafka. The pure modules (``versions``, ``ranking``, ``context``, ``keywords``,
``digest``) say what a change means and how answers are ordered; the others do the reading and writing.
"""
