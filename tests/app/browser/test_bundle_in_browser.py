"""ES modules made into one script, run in a real browser: what they say, and that their names stay their own."""

from cogmap.report.html import bundle


def write_modules(folder, monkeypatch, modules):
    """A package of these modules, by their paths."""
    package = folder / "bundled_pages"
    for path, text in {"__init__.py": "", **modules}.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    return "bundled_pages"


def test_modules_keep_their_names_to_themselves(tmp_path, monkeypatch, browser):
    modules = {
        "main.js": 'import { twice } from "./shared/twice.js";\nimport * as once from "./shared/once.js";\n'
        "const secret = 5;\nglobalThis.told = [twice(secret), once.plus(secret), once.NAME];\n",
        "shared/twice.js": 'import { plus } from "./once.js";\nconst secret = 10;\n'
        "export function twice(value) {\n  return plus(plus(value)) + secret;\n}\n",
        "shared/once.js": 'export const NAME = "once";\nconst secret = 1;\n'
        "export function plus(value) {\n  return value + secret;\n}\n",
    }
    script = bundle(write_modules(tmp_path, monkeypatch, modules), "main.js")
    browser.driver.get("about:blank")
    browser.run(script)
    assert browser.run("return globalThis.told") == [17, 6, "once"]
