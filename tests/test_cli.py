"""The command line as a user meets it: quick, one clear line for what went wrong, no traceback."""

import ast
import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from cogmap import cli
from cogmap.errors import BadWalks
from cogmap.version import __version__

HEAVY = {"torch", "scipy", "matplotlib", "tyro", "networkx", "rich", "numpy"}

WORLDS = "room, room3d, cube, family, torus, maze, streets, machine, frozenlake, cliff, taxi, gym"


def fail(capsys, *arguments):
    """Exit code and the one line on stderr."""
    code = cli.main(arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return code, captured.err


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"]])
def test_help_lists_every_command(capsys, arguments):
    assert cli.main(arguments) == 0
    shown = capsys.readouterr().out
    for name, (_, meaning) in cli.COMMANDS.items():
        assert f"  {name} " in shown
        assert meaning in shown


def test_help_imports_nothing_heavy():
    script = "import sys; from cogmap.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert HEAVY & set(ended.stderr.split()) == set()


def test_importing_the_package_imports_nothing_heavy():
    script = "import sys, cogmap; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (HEAVY - {"numpy"}) & set(ended.stdout.split()) == set()


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"cogmap {__version__}\n"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_options_with_help(capsys, name):
    with pytest.raises(SystemExit) as stop:
        cli.main([name, "--help"])
    assert stop.value.code in (None, 0)
    assert f"usage: cogmap {name}" in capsys.readouterr().out


def test_a_mistyped_command(capsys):
    code, line = fail(capsys, "wlak")
    assert code == 2
    assert line == "cogmap: there is no command 'wlak': did you mean `cogmap walk`?\n"


def test_a_command_like_no_other(capsys):
    code, line = fail(capsys, "zzz")
    assert code == 2
    assert line == f"cogmap: there is no command 'zzz': there are {', '.join(cli.COMMANDS)}\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["walk", "room"], "Missing from cogmap walk room: --out PATH; see `cogmap walk --help`"),
        (
            ["walk", "room", "--heigth", "3", "--out", "x.npz"],
            "Unrecognized options: --heigth, 3; Perhaps you meant: --height; see `cogmap walk --help`",
        ),
        (["check"], "Missing from cogmap check: PATH; see `cogmap check --help`"),
        (["learn"], "Missing from cogmap learn: PATH, --out PATH; see `cogmap learn --help`"),
        (
            ["learn", "x.npz", "--out", "y", "--encodr", "gru", "--stpes=3"],
            "Unrecognized options: --encodr, gru, --stpes=3; Perhaps you meant: --encoder, --steps; "
            "see `cogmap learn --help`",
        ),
        (
            ["walk", "rom", "--out", "x.npz"],
            f"Unrecognized option: rom; Available subcommands: {WORLDS}; see `cogmap walk --help`",
        ),
        (
            ["walk"],
            f"Expected one of {{{WORLDS}}}; see `cogmap walk --help`",
        ),
        (
            ["walk", "room", "--drawing", "x"],  # an option of another subcommand is no hint
            "Missing from cogmap walk room: --out PATH; see `cogmap walk --help`",
        ),
        (
            ["walk", "room", "--bump", "fly", "--out", "x.npz"],
            "invalid choice 'fly' for argument '--bump'. Expected one of ('stay', 'resample'); "
            "see `cogmap walk --help`",
        ),
        (["learn", "x.npz", "--out"], "Missing value for argument '--out'; see `cogmap learn --help`"),
        (
            ["walk", "room", "--walks", "many", "--out", "x.npz"],
            "Error parsing --walks: invalid literal for int() with base 10: 'many'; see `cogmap walk --help`",
        ),
    ],
)
def test_wrong_options(capsys, arguments, line):
    assert fail(capsys, *arguments) == (2, f"cogmap: {line}\n")


def test_a_tyro_without_the_hook_tells_errors_itself(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tyro._errors", None)
    with pytest.raises(SystemExit) as stop:
        cli.main(["walk", "room"])
    assert stop.value.code == 2
    assert "--out PATH" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (BadWalks("a message\nof two lines"), 2, "cogmap: a message of two lines\n"),
        (MemoryError("Unable to allocate 9 TiB"), 2, "cogmap: not enough memory: Unable to allocate 9 TiB\n"),
        (KeyboardInterrupt(), 130, "cogmap: stopped\n"),
        (
            ModuleNotFoundError("No module named 'torch'", name="torch.nn"),
            2,
            "cogmap: the package torch must be installed: `cogmap doctor` has the line for it\n",
        ),
    ],
)
def test_what_stops_a_command_is_reported_in_one_line(capsys, monkeypatch, error, code, line):
    def stop(arguments):
        raise error

    monkeypatch.setattr(cli, "_dispatch", stop)
    assert fail(capsys, "walk") == (code, line)


@pytest.mark.parametrize("bug", [ZeroDivisionError(), ModuleNotFoundError("x", name="cogmap.mistyped")])
def test_a_bug_of_ours_keeps_its_traceback(monkeypatch, bug):
    def stop(arguments):
        raise bug

    monkeypatch.setattr(cli, "_dispatch", stop)
    with pytest.raises(type(bug)):
        cli.main(["walk"])


def test_a_reader_that_leaves_is_no_error():
    command = f"{sys.executable} -m cogmap --help | true"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert ended.stderr == ""


@pytest.mark.parametrize(
    "name", [*(f"commands/{name}" for name in cli.COMMANDS), "experiments/trials", "experiments/engine"]
)
def test_the_help_of_an_option_is_one_line(name):
    """Of several lines tyro keeps the breaks, wherever they are."""
    path = Path(cli.__file__).parent / f"{name}.py"
    for kind in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for option, meaning in itertools.pairwise(kind.body if isinstance(kind, ast.ClassDef) else ()):
            if isinstance(option, ast.AnnAssign) and isinstance(meaning, ast.Expr):
                assert "\n" not in ast.literal_eval(meaning.value), ast.unparse(option)
