"""The command line: ``memlake``.

Rule of this room: stdout is for results, stderr for everything else; exit code 0 done, 1 it failed and says why, 2
wrong usage. Heavy rooms (lake, model, Kafka client) are imported by the command that needs them.
"""

import sys

import click

from schemas.errors import MemlakeError
from streams.cli import ask, change, knowledge, look, measure, run, talk, usage
from streams.cli.options import complain

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="memlake")
def memlake() -> None:
    """An event-driven memory for chat agents: turns in on Kafka, versioned facts in LanceDB, every change an event."""


for group in (talk, ask, change, look, knowledge, usage, run, measure):
    for command in group.COMMANDS:
        memlake.add_command(command)


def main() -> None:
    """Run the command line; every expected failure is told in words, not as a trace."""
    try:
        code = memlake.main(standalone_mode=False)
    except click.exceptions.Abort:
        code = 130
    except click.ClickException as error:
        error.show(sys.stderr)
        code = error.exit_code
    except MemlakeError as error:
        complain(f"memlake: {error}")
        code = 1
    except BrokenPipeError:
        code = 1  # whoever read our output has gone
    except OSError as error:
        complain(f"memlake: {error.strerror or error}")
        code = 1
    sys.exit(code if isinstance(code, int) else 0)
