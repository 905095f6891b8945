"""The command line: a table of commands, of which only the one that is named gets imported.

A command is a module with `run(args)` and `Args`: a dataclass, or a union of some, whose fields are options.
"""

from __future__ import annotations

import difflib
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from importlib import import_module
from types import ModuleType
from typing import Any

from cogmap.errors import CogmapError
from cogmap.version import __version__

COMMANDS = {  # name: (module, what it does)
    "demo": ("cogmap.commands.demo", "the whole story on a small room, with pictures, in minutes"),
    "walk": ("cogmap.commands.walk", "sample walks in a world and write them to a file"),
    "ginc": (
        "cogmap.commands.ginc",
        "make the GINC text set again, byte for byte, with its truth and ceiling",
    ),
    "check": ("cogmap.commands.check", "say what a walks file holds, and what is odd about it"),
    "learn": ("cogmap.commands.learn", "train on walks, encode them, build the map: a run folder"),
    "plan": ("cogmap.commands.plan", "find shortest paths between moments of walks, on a run's map"),
    "evaluate": ("cogmap.commands.evaluate", "score a run on test walks against their truth"),
    "report": ("cogmap.commands.report", "write report.html, a page that opens offline, and its figures"),
    "serve": ("cogmap.commands.serve", "the map explorer in a browser, on this machine only"),
    "map": ("cogmap.commands.map", "build the map of some walks with a trained model, or export a run's map"),
    "reproduce": ("cogmap.commands.reproduce", "run one of the paper's tables here, and write its rows"),
    "doctor": (
        "cogmap.commands.doctor",
        "say what is installed, what is missing, and the line that installs it",
    ),
}
BAD_INPUT, BROKEN_PIPE, INTERRUPTED = 2, 141, 130  # exit codes, the last two as shells have them


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. What a user can mend is told in one line; a traceback is a bug of ours."""
    try:
        _dispatch(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except CogmapError as error:
        return _fail(str(error), BAD_INPUT)
    except MemoryError as error:
        return _fail(f"not enough memory: {error}", BAD_INPUT)
    except KeyboardInterrupt:
        return _fail("stopped", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has left, as `head` does. Python flushes once more at exit: into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return 0


def _dispatch(arguments: list[str]) -> None:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_help())
    elif arguments[0] == "--version":
        print(f"cogmap {__version__}")
    else:
        name, *rest = arguments
        command = import_module(_module_of(name))
        command.run(_parse(command, name, rest))


def _module_of(name: str) -> str:
    if name in COMMANDS:
        return COMMANDS[name][0]
    near = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean `cogmap {near[0]}`?" if near else f"there are {', '.join(COMMANDS)}"
    raise CogmapError(f"there is no command {name!r}: {hint}")


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {meaning}" for name, (_, meaning) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: cogmap COMMAND [OPTIONS]",
            "",
            "Learns a map of a place from what an agent saw and did there, and plans on it.",
            "",
            "commands:",
            *lines,
            "",
            "`cogmap COMMAND --help` tells the options of a command, `cogmap --version` the version.",
        ]
    )


def _parse(command: ModuleType, name: str, arguments: list[str]) -> Any:
    """The command's `Args` from its options; wrong ones are told in one line."""
    import tyro

    told = io.StringIO()
    try:
        with redirect_stderr(told):
            return tyro.cli(
                command.Args,
                args=arguments,
                prog=f"cogmap {name}",
                description=command.__doc__,
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as stop:
        if stop.code in (None, 0):  # `--help` has printed what it had to
            raise
        raise CogmapError(f"{_one_line(told.getvalue())}; see `cogmap {name} --help`") from None


def _one_line(box: str) -> str:
    """What tyro tells in a box: its first paragraph, and the first line of the first hint."""
    paragraphs: list[list[str]] = [[]]
    for line in (line.strip("│|╭╮╰╯+ ") for line in box.splitlines()[1:-1]):
        if set(line) <= {"─", "-"}:  # a rule, in ASCII where the terminal has no more, or an empty line
            paragraphs.append([])
        else:
            paragraphs[-1].append(re.sub(r" \(applied to [^)]*\)", "", line))
    told = [lines[:2] if lines[0].endswith(":") else lines for lines in paragraphs if lines]
    told = told or [["the options must be ones that the command has"]]  # should tyro tell nothing
    problem, *others = (" ".join(lines) for lines in told)
    hint = next((other for other in others if other.startswith(("Available", "Perhaps"))), None)
    return "; ".join(part.rstrip(".") for part in (problem, hint) if part)


def _fail(message: str, code: int) -> int:
    print(f"cogmap: {' '.join(message.split())}", file=sys.stderr)
    return code
