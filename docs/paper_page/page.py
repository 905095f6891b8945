"""The page docs/paper.md."""

from __future__ import annotations

from cogmap.experiments.rows import read_rows
from cogmap.experiments.tables import TABLES
from paper_page.below import below, not_reproduced
from paper_page.families import new_rooms, rule
from paper_page.figures import figures
from paper_page.missing import missing
from paper_page.parts import beside, rollouts
from paper_page.places import OF_OURS, PLACES, noise, our_places, places
from paper_page.rows import RESULTS
from paper_page.text import text
from paper_page.training import ladder, training_steps

OTHERS = ("campaign", "chance", "worlds", "maps")  # rows that are of no table of the paper


def page() -> str:
    """The whole page."""
    files = {path.stem: path for path in RESULTS.glob("*.csv") if path.stem not in OTHERS}
    tables = {name: read_rows(RESULTS / f"{name}.csv") for name in sorted({*files, *TABLES})}
    parts = [
        INTRODUCTION,
        below(tables),
        not_reproduced(tables),
        *(places(name, tables[name]) for name in PLACES),
        *(our_places(name, tables[name]) for name in OF_OURS),
        rollouts(tables),
        beside(tables),
        noise(tables),
        training_steps(tables),
        new_rooms(tables),
        rule(tables),
        text(tables),
        figures(tables),
        ladder(tables),
        missing(),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


INTRODUCTION = """\
# The paper, theirs and ours

Every table and figure of the paper, its figures beside ours. The page is written from the rows in
[results](../results/README.md) by `python docs/make_paper_page.py`, and a test holds that it is current. Means over
worlds have their standard errors in brackets; TestAccu and ImpFallback are in per cent.

`cogmap reproduce TABLE` samples the walks, trains, scores the maps and writes one row a metric into
`results/TABLE.csv`, with the command and the commits that trained and scored it. `cogmap reproduce all` takes every
trial of the paper's tables, `--dry-run` lists them with state and hours, `--rescore` scores again what is trained. What
is scored is not run again, and what was cut off resumes: [many trials, many machines](clusters.md).

```sh
# not run in the tests: trains for minutes to hours
cogmap reproduce small-room --rooms 10 --only "TDB(S=3, M=1)" --encoder gru
cogmap reproduce table-1 --only "TDB(S=3, M=1)" "Vanilla LSTM" --encoder gru --minutes 20
```

From Python: `cogmap.experiments.reproduce`. [How much data and time do I need?](data_and_time.md) has the seconds.
Where the paper leaves something open, [readings of the paper](paper_readings.md) has what we take, and why.

"our map" is the minimal map. "the paper's builder" is that of its appendix C on canonical codes, that is, on classes of
codes with one predicted future, of which those that several places share are told apart by what led to them
([reading](paper_readings.md#maps-plans-and-scores)); "as printed" is on the codes as they are. Ours are of the preset
`fast` unless a line says otherwise; the paper's of its transformer.

¹ These rows were scored before the paper's builder started from canonical codes, and before our map was that of a
hidden Markov model: they show the paper's builder on the codes as they are. `cogmap reproduce TABLE` makes them
again. Rows without a mark that were scored at 7efa10c or eb3e62f are of a step 2 that took no notice of actions
([reading](paper_readings.md#maps-plans-and-scores)), which merges places of 3D rooms.

² These rows were scored before canonical codes that several places share were told apart."""
