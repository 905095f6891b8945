"""report.html: one file that opens offline, with the scores, the pictures, and a map to plan on."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from cogmap.files import write_whole
from cogmap.report.example import Example, example_problem, plan_sentence, rival_sentence, summary_sentence
from cogmap.report.html import (
    Section,
    asset,
    bundle,
    figures_html,
    folded_html,
    section_html,
    style_sheet,
    table_html,
)
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
from cogmap.report.tables import all_scores_table, score_table
from cogmap.version import __version__

REPORT_FILE, FIGURES_FOLDER = "report.html", "figures"


def write_report(
    folder: str | Path,
    own: Material,
    rival: Material | None = None,
    commands: Sequence[str] = (),
    before: Sequence[Section] = (),
) -> Path:
    """Write the pictures, then the page that holds them too. Returns the page's path.

    rival: a model to show beside it, that plans worse.
    commands: the lines that make this report again.
    before: sections that stand before all others, such as those on what a 3D room looks like.
    """
    folder = Path(folder)
    example = example_problem(own, rival)
    sections = [*before, *make_sections(own, rival, example, commands)]
    for section in sections:
        for picture in section.pictures:
            save_svg(picture.svg, folder / FIGURES_FOLDER / f"{picture.name}.svg")
    with write_whole(folder / REPORT_FILE) as stream:
        stream.write(page_html(own, sections, example).encode())
    return folder / REPORT_FILE


def page_html(own: Material, sections: Iterable[Section], example: Example | None) -> str:
    """The whole page. Its policy allows no request, and no script but its own."""
    script = bundle("cogmap.report", "page.js")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    attempt = None if example is None else example.own
    data = map_data(own, None if attempt is None else attempt.plan)
    return Template(asset("page.html")).substitute(
        title=escape(f"The map that {own.name} learned"),
        sentence=escape(summary_sentence(own)),
        sections="\n".join(section.html for section in sections),
        style=style_sheet(),
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
        Section(asset("explorer.html")),
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
    return Section(section_html("scores", "Scores", table_html(table)))


def _beside_truth(own: Material) -> Section:
    pictures = tuple(map_pictures(own))
    heading = "The map" if own.truth is None else "The map beside the truth"
    return Section(section_html("map-figures", heading, figures_html(pictures)), pictures)


def _plan(own: Material, example: Example | None) -> Section | None:
    if example is None or example.own is None or own.truth is None:
        return None
    pictures: tuple[Picture, ...] = ()
    if is_drawable(own.truth.world):
        pictures = (plan_picture("plan", example.own, example, own.truth),)
    told = f"<p>{escape(plan_sentence(example, example.own.plan))}</p>"
    return Section(section_html("plan", "A plan", told + figures_html(pictures)), pictures)


def _rival(rival: Material | None, example: Example | None) -> Section | None:
    if rival is None or rival.truth is None or rival.reading is None:
        return None
    merged, count = merged_picture(rival)
    pictures = [merged]
    if example is not None and example.rival is not None and is_drawable(rival.truth.world):
        pictures.append(plan_picture("rival_plan", example.rival, example, rival.truth))
    told = f"<p>{escape(rival_sentence(rival, count))}</p>"
    html = section_html("rival", f"Beside it: {rival.name}", told + figures_html(pictures))
    return Section(html, tuple(pictures))


def _diagnostics(own: Material) -> Section | None:
    pictures = tuple(diagnostic_pictures(own))
    return (
        Section(section_html("diagnostics", "Inside", figures_html(pictures)), pictures) if pictures else None
    )


def _all_scores(own: Material, rival: Material | None) -> Section | None:
    scored = own.scored + (rival.scored if rival is not None else ())
    if not scored:
        return None
    return Section(folded_html("Every score", table_html(all_scores_table(scored))))


def _config(own: Material) -> Section:
    text = json.dumps(own.config, indent=2, ensure_ascii=False)
    return Section(folded_html("Every choice (config.json)", f"<pre>{escape(text)}</pre>"))


def _commands(commands: Sequence[str]) -> Section | None:
    if not commands:
        return None
    lines = escape("\n".join(commands))
    return Section(section_html("again", "How to make this again", f"<pre><code>{lines}</code></pre>"))
