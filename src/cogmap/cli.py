"""The command line: a table of commands, of which only the one that is asked for is imported.

A command is a module with `run(args)` and `Args`: a dataclass, or a union of some, whose fields are options.
"""

from __future__ import annotations

import difflib
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from importlib import import_module
from types import ModuleType
from typing import Any, get_args

from cogmap.errors import CogmapError, Stopped
from cogmap.signals import Terminated, raised_when_terminated
from cogmap.version import __version__

COMMANDS = {  # name: (module, what it does)
    "demo": ("cogmap.commands.demo", "learn a small room from start to end, with pictures, in minutes"),
    "walk": ("cogmap.commands.walk", "sample walks in a world and write them to a file"),
    "ginc": (
        "cogmap.commands.ginc",
        "generate the GINC text set, byte for byte, with its truth and ceiling",
    ),
    "convert": ("cogmap.commands.convert", "convert walks of any size to another format, part by part"),
    "check": ("cogmap.commands.check", "summarise a walks file, and warn about what looks wrong in it"),
    "learn": ("cogmap.commands.learn", "train on walks, encode them and build the map, into a run folder"),
    "plan": ("cogmap.commands.plan", "plan shortest paths on a run's map"),
    "policy": (
        "cogmap.commands.policy",
        "compute the best action at every node, for worlds with chance",
    ),
    "evaluate": ("cogmap.commands.evaluate", "score a run on test walks against their truth"),
    "compare": (
        "cogmap.commands.compare",
        "compare TDB with CSCG, automata learners and n-grams on one log",
    ),
    "report": ("cogmap.commands.report", "write report.html, a page that opens offline, and its figures"),
    "serve": ("cogmap.commands.serve", "open the map explorer in a browser, on this machine only"),
    "map": ("cogmap.commands.map", "build the map of other walks with a run's model, or export a run's map"),
    "reproduce": ("cogmap.commands.reproduce", "run one of the paper's tables, and write its rows"),
    "doctor": (
        "cogmap.commands.doctor",
        "list what is installed, what is missing, and how to install it",
    ),
}
# Exit codes; all but the first are those of shells.
BAD_INPUT, BROKEN_PIPE, INTERRUPTED, TERMINATED = 2, 141, 130, 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. What a user can fix is printed in one line; a traceback is a bug of ours."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a label that the terminal cannot show is no error
    try:
        with raised_when_terminated():
            _dispatch(list(sys.argv[1:] if arguments is None else arguments))
            sys.stdout.flush()
    except Stopped as error:
        return _fail(str(error), TERMINATED)
    except CogmapError as error:
        return _fail(str(error), BAD_INPUT)
    except MemoryError as error:
        return _fail(f"not enough memory: {error}", BAD_INPUT)
    except RuntimeError as error:
        if "allocate memory" not in str(error) and "out of memory" not in str(error):  # torch's words for it
            raise
        return _fail(f"not enough memory: {error}", BAD_INPUT)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "cogmap":
            raise
        missing = error.name.split(".")[0]
        return _fail(
            f"the package {missing} must be installed: `cogmap doctor` has the line for it", BAD_INPUT
        )
    except Terminated:
        return _fail("stopped", TERMINATED)
    except KeyboardInterrupt:
        return _fail("stopped", INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output is gone, as `head` does it. Python flushes once more at exit: into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:  # a path that no file can have, a disk that fails: not a bug of ours
        where = "" if error.filename is None else f": {error.filename!s:.80}"
        return _fail(f"{error.strerror or error}{where}", BAD_INPUT)
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
            "Learn a map of a place from what an agent saw and did there, and plan on it.",
            "",
            "commands:",
            *lines,
            "",
            "`cogmap COMMAND --help` lists the options of a command, `cogmap --version` prints the version.",
        ]
    )


def _parse(command: ModuleType, name: str, arguments: list[str]) -> Any:
    """The command's `Args` from its options; wrong ones are reported in one line."""
    import tyro

    def refuse(event: Any) -> None:
        problem = _problem(event, _options_in_play(command.Args, arguments))
        if problem is not None:
            raise CogmapError(f"{problem}; see `cogmap {name} --help`")

    with _refused_by(refuse):
        return tyro.cli(
            command.Args,
            args=arguments,
            prog=f"cogmap {name}",
            description=command.__doc__,
            config=(tyro.conf.FlagCreatePairsOff, tyro.conf.DisallowNone),
        )


def _refused_by(refuse: Callable[[Any], None]) -> AbstractContextManager[None]:
    """Have tyro hand its errors to us. Its hook is not public yet: without it tyro prints them itself, in a box."""
    try:
        from tyro._errors import on_parse_error
    except ImportError:
        return nullcontext()
    return on_parse_error(refuse)


def _options_in_play(options: Any, arguments: Sequence[str]) -> dict[str, Any]:
    """The dataclasses of the command by subcommand: the one that was chosen, or all of them."""
    kinds = {kind.__name__.lower(): kind for kind in get_args(options) or (options,)}
    chosen = arguments[0] if arguments and arguments[0] in kinds else None
    return kinds if chosen is None else {chosen: kinds[chosen]}


def _problem(event: Any, options: dict[str, Any]) -> str | None:
    """What tyro found wrong, in one line; None for a kind of error that it did not have when this was written."""
    match type(event).__name__:
        case "MissingArgs":
            command = f"{event.prog} {event.missing_arguments[0].source_parser.prog_suffix}".strip()
            missing = [_invocation(each.arg) for each in event.missing_arguments]
            return f"Missing from {command}: {', '.join(missing)}"
        case "MissingSubcommand":
            return f"Expected one of {{{', '.join(options)}}}"
        case "InvalidChoice":
            rule = f"invalid choice {event.value!r} for argument '{event.argument.display_name()}'"
            return f"{rule}. Expected one of {event.choices}"
        case "BadValue":
            return f"Missing value for argument '{event.argument.display_name()}'"
        case "InstantiationFailure":
            where = event.argument.display_name() if event.argument else event.prog
            return f"Error parsing {where}: {event.message.splitlines()[0].rstrip('.')}"
        case "UnrecognizedArgs" if len(options) > 1:
            return f"Unrecognized option: {event.tokens[0]}; Available subcommands: {', '.join(options)}"
        case "UnrecognizedArgs":
            return f"Unrecognized options: {', '.join(event.tokens)}{_hint(event.tokens, *options.values())}"
    return None


def _invocation(argument: Any) -> str:
    """`--out PATH` of an option, `PATH` of a positional argument."""
    names = [] if argument.is_positional() else [argument.lowered.name_or_flags[0]]
    return " ".join([*names, argument.lowered.metavar])


def _hint(tokens: Sequence[str], options: Any) -> str:
    """The options whose names are most like the unknown ones."""
    known = [f"--{field.name.strip('_').replace('_', '-')}" for field in fields(options)]
    flags = [token.partition("=")[0] for token in tokens if token.startswith("--")]
    near = [name for flag in flags for name in difflib.get_close_matches(flag, known, n=1)]
    return f"; Perhaps you meant: {', '.join(near)}" if near else ""


def _fail(message: str, code: int) -> int:
    print(f"cogmap: {' '.join(message.split())}", file=sys.stderr)
    return code
