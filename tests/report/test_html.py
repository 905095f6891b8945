"""ES modules as one script: each in its own scope, imports first, without import and export statements."""

import re

from cogmap.report.html import bundle


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
