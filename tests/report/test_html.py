"""ES modules as one script: each in its own scope, imports first, without import and export statements."""

import json
import re
import shutil
import subprocess

import pytest

from cogmap.report.html import bundle

NODE = shutil.which("node")


def write_modules(folder, monkeypatch, modules):
    """A package of these modules, by their paths."""
    package = folder / "bundled_pages"
    for path, text in {"__init__.py": "", **modules}.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    return "bundled_pages"


def test_the_reports_script_has_every_module_once_before_those_that_use_it():
    script = bundle("cogmap.report", "page.js")
    made = re.findall(r"^const (module_\w+) = \(\(\) => \{$", script, re.MULTILINE)
    assert len(made) == len(set(made)) > 8
    assert made[-1] == "module_page"
    for position, name in enumerate(made):
        used = re.findall(
            r"^const .* = (module_\w+);$", script.split(f"const {name} = ")[1].split("})();")[0], re.M
        )
        assert set(used) <= set(made[:position])
    assert re.findall(r"^(?:import|export)\b.*", script, re.MULTILINE) == []


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_modules_keep_their_names_to_themselves(tmp_path, monkeypatch):
    modules = {
        "main.js": 'import { twice } from "./shared/twice.js";\nimport * as once from "./shared/once.js";\n'
        "const secret = 5;\nconsole.log(JSON.stringify([twice(secret), once.plus(secret), once.NAME]));\n",
        "shared/twice.js": 'import { plus } from "./once.js";\nconst secret = 10;\n'
        "export function twice(value) {\n  return plus(plus(value)) + secret;\n}\n",
        "shared/once.js": 'export const NAME = "once";\nconst secret = 1;\n'
        "export function plus(value) {\n  return value + secret;\n}\n",
    }
    script = bundle(write_modules(tmp_path, monkeypatch, modules), "main.js")
    printed = subprocess.run([NODE, "-e", script], capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == [17, 6, "once"]
