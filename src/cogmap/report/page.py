"""report.html: one file that opens offline, with the scores, the pictures, and a map to plan on."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from cogmap.files import write_whole
from cogmap.report.example import Example, example_problem
from cogmap.report.map_data import map_data
from cogmap.report.material import Material
from cogmap.report.paper_rows import paper_table
from cogmap.report.pictures import (
    Picture,
    diagnostic_pictures,
    is_drawable,
    map_pictures,
    merged_picture,
    plan_picture,
)
from cogmap.report.style import save_svg
from cogmap.report.tables import Table, all_scores_table, score_table
from cogmap.report.words import plan_sentence, rival_sentence, summary_sentence
from cogmap.version import __version__

REPORT_FILE, FIGURES_FOLDER = "report.html", "figures"


class Section(NamedTuple):
    html: str
    pictures: tuple[Picture, ...] = ()


def write_report(
    folder: str | Path, own: Material, rival: Material | None = None, commands: Sequence[str] = ()
) -> Path:
    """Write the pictures, then the page that holds them too. Returns the page's path.

    rival: a model to show beside it, that plans worse.
    commands: the lines that make this report again.
    """
    folder = Path(folder)
    example = example_problem(own, rival)
    sections = make_sections(own, rival, example, commands)
    for section in sections:
        for picture in section.pictures:
            save_svg(picture.svg, folder / FIGURES_FOLDER / f"{picture.name}.svg")
    with write_whole(folder / REPORT_FILE) as stream:
        stream.write(page_html(own, sections, example).encode())
    return folder / REPORT_FILE


def page_html(own: Material, sections: Iterable[Section], example: Example | None) -> str:
    """The whole page. Its policy allows no request, and no script but its own."""
    script = "\n".join(_asset(name) for name in ("planner.js", "view.js", "page.js"))
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    attempt = None if example is None else example.own
    data = map_data(own, None if attempt is None else attempt.plan)
    return Template(_asset("page.html")).substitute(
        title=escape(f"The map that {own.name} learned"),
        sentence=escape(summary_sentence(own)),
        sections="\n".join(section.html for section in sections),
        style=_asset("page.css"),
        data=f'<script type="application/json" id="map-data">{script_json(data)}</script>',
        script=script,
        script_hash=f"sha256-{digest}",
        version=escape(__version__),
    )


def make_sections(
    own: Material, rival: Material | None, example: Example | None, commands: Sequence[str]
) -> list[Section]:
    """Every section for which there is material, in the order of the story."""
    sections = [
        _warnings(own),
        _scores(own, rival),
        Section(_asset("explorer.html")),
        _beside_truth(own),
        _plan(own, example),
        _rival(rival, example),
        _diagnostics(own),
        _all_scores(own, rival),
        _config(own),
        _commands(commands),
    ]
    return [section for section in sections if section is not None]


def script_json(value: Any) -> str:
    """JSON that can stand inside a script element: no character of it can end the element or start another."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII only
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _warnings(own: Material) -> Section | None:
    told = own.cognitive_map.warnings
    items = "".join(f"<li>{escape(warning)}</li>" for warning in told)
    return Section(f'<div class="warning" role="note"><ul>{items}</ul></div>') if told else None


def _scores(own: Material, rival: Material | None) -> Section | None:
    scored = own.scored + (rival.scored if rival is not None else ())
    if not scored:
        return None
    world = own.truth.world.name if own.truth is not None else "room"
    table = score_table(scored, paper_table(world, own.cognitive_map.num_observations))
    return Section(_section("scores", "Scores", _table(table)))


def _beside_truth(own: Material) -> Section:
    pictures = tuple(map_pictures(own))
    heading = "The map" if own.truth is None else "The map beside the truth"
    return Section(_section("map-figures", heading, _figures(pictures)), pictures)


def _plan(own: Material, example: Example | None) -> Section | None:
    if example is None or example.own is None or own.truth is None:
        return None
    pictures: tuple[Picture, ...] = ()
    if is_drawable(own.truth.world):
        pictures = (plan_picture("plan", example.own, example, own.truth),)
    told = f"<p>{escape(plan_sentence(example, example.own.plan))}</p>"
    return Section(_section("plan", "A plan", told + _figures(pictures)), pictures)


def _rival(rival: Material | None, example: Example | None) -> Section | None:
    if rival is None or rival.truth is None or rival.reading is None:
        return None
    merged, count = merged_picture(rival, rival.truth)
    pictures = [merged]
    if example is not None and example.rival is not None and is_drawable(rival.truth.world):
        pictures.append(plan_picture("rival_plan", example.rival, example, rival.truth))
    told = f"<p>{escape(rival_sentence(rival, count))}</p>"
    html = _section("rival", f"Beside it: {rival.name}", told + _figures(pictures))
    return Section(html, tuple(pictures))


def _diagnostics(own: Material) -> Section | None:
    pictures = tuple(diagnostic_pictures(own))
    return Section(_section("diagnostics", "Inside", _figures(pictures)), pictures) if pictures else None


def _all_scores(own: Material, rival: Material | None) -> Section | None:
    scored = own.scored + (rival.scored if rival is not None else ())
    if not scored:
        return None
    return Section(_folded("Every score", _table(all_scores_table(scored))))


def _config(own: Material) -> Section:
    text = json.dumps(own.config, indent=2, ensure_ascii=False)
    return Section(_folded("Every choice (config.json)", f"<pre>{escape(text)}</pre>"))


def _commands(commands: Sequence[str]) -> Section | None:
    if not commands:
        return None
    lines = escape("\n".join(commands))
    return Section(_section("again", "How to make this again", f"<pre><code>{lines}</code></pre>"))


def _section(name: str, heading: str, body: str) -> str:
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(heading)}</h2>\n{body}\n</section>'


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n{body}\n</details>"


def _table(table: Table) -> str:
    """The table in a box that scrolls sideways on a narrow screen, its caption below and always in sight."""
    box = f'<div class="scroll" tabindex="0" role="region" aria-label="Table">{table.html()}</div>'
    return f'{box}\n<p class="note">{escape(table.caption)}</p>' if table.caption else box


def _figures(pictures: Iterable[Picture]) -> str:
    return f'<div class="figures">{"".join(map(_figure, pictures))}</div>'


def _figure(picture: Picture) -> str:
    source = base64.b64encode(picture.svg.encode()).decode()
    image = f'<img src="data:image/svg+xml;base64,{source}" alt="{escape(picture.alt)}">'
    kind = ' class="wide"' if picture.wide else ""
    return f"<figure{kind}>{image}<figcaption>{escape(picture.caption)}</figcaption></figure>\n"


def _asset(name: str) -> str:
    return files("cogmap.report").joinpath(name).read_text(encoding="utf-8")
