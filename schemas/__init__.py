"""What is *said*: messages, ids, topics, errors.

Rule of this room: pure. It imports pydantic and nothing of ours; no I/O, no clock, no dice. Whatever crosses a topic
or a room is a frozen model from here, and its wire names are the public contract.
"""
