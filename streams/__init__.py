"""What *happens*: rules of extraction and decision, Faust agents, client, command line.

Rule of this room: agents decode, call a handler, send and acknowledge; handlers gather, ask the pure modules and apply;
``extract`` and ``decide`` are pure.
"""
