"""Runs on a text: a vocabulary, a model, a latent graph; and the concepts of its nodes where they are known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cogmap.environments.ginc import Documents, read_truth
from cogmap.errors import BadConfig, BadRun
from cogmap.maps.latent import latent_graph
from cogmap.maps.store import save_map
from cogmap.models.config import ModelConfig
from cogmap.records import Codes, CognitiveMap, Integers, Labels, Walks
from cogmap.runs.names import BASELINES_FILE, CONCEPTS_FILE, MAP_FILES, SCORE_FILES, MapKind
from cogmap.tasks import Choices, TrainingData
from cogmap.tasks.evaluation import Evaluation, EvaluationOptions, TestWalks, aligned
from cogmap.walks.sample import splice
from cogmap.walks.text import PIECE, TextReading, Unit, cut, document_walks, load_text

if TYPE_CHECKING:
    from cogmap.evaluation.prompts import InContextRow
    from cogmap.evaluation.text_baselines import TextBaselines
    from cogmap.runs.run import Run
    from cogmap.training.progress import Progress

_MAP_UNITS = 2_000_000  # of a text that its graph is made from, at the most

# What follows in a text is never certain: the bottleneck is annealed when its share of the training is over, and not
# when predictions are right. A code has a whole distribution to represent and not one observation: a table of what
# followed each code predicted GINC far better than narrow heads, so heads are wide and codes have such a table. And
# longer stretches of a text carry their state from window to window, since its topic is known only after some units.
_ANY = {
    "bottleneck_from": 1_000_000,
    "head_width": 512,
    "code_logits": True,
    "validate_every": 200,
    "steps": 8000,
}
_RECURRENT = {**_ANY, "fresh_share": 0.3}
_FAST: dict[str, dict[str, Any]] = {"transformer": _ANY, "gru": _RECURRENT, "lstm": _RECURRENT}
_PAPER = {"batch_size": 24}
# Numbers in what computes the logits: 800 MB, and twice that for the optimizer.
_MOST_OUTPUT_NUMBERS = 200_000_000
_NARROW = {"head_width": 128, "code_logits": False}

# Nodes; Kamada-Kawai takes some ten seconds for so many, and shows clusters that scaling does not.
_POLISHED_NODES = 1000


@dataclass(frozen=True, eq=False)
class TextSource:
    """A text ready to be learned from."""

    reading: TextReading
    plain: Walks  # pieces of the text as it is
    training: Walks  # the same spliced, if that was asked for
    concept: Integers | None = None  # (B,) of each piece, where there is truth beside the text
    names: Labels = ()  # of the concepts


def read_text(path: str | Path, reading: TextReading | None = None, seed: int = 0) -> TextSource:
    """A text file, or the documents of a GINC folder's `train.txt` or `val.txt`, cut into pieces.

    seed: of the splices, where `reading` asks for any.
    """
    path, reading = Path(path), reading or TextReading()
    documents = _documents_beside(path)
    names: Labels = ()
    if documents is None:
        whole, concept = load_text(path, reading.unit, least_count=reading.least_count), None
    else:
        labels, truth = documents
        if reading.unit != "words":
            raise BadConfig(f"{path} holds GINC documents, which are `--words`, got --{reading.unit}")
        whole = document_walks(path, truth.hidden.shape[1], labels)
        concept = truth.concept
        names = tuple(f"concept {number}" for number in range(int(concept.max()) + 1))
    plain, origin = cut(whole, PIECE)
    training = plain
    if reading.splice:
        training, _ = cut(splice(whole, reading.splice, np.random.default_rng([seed, 6])), PIECE)
    return TextSource(reading, plain, training, None if concept is None else concept[origin], names)


def _documents_beside(path: Path) -> tuple[Labels, Documents] | None:
    """Vocabulary and truth of a GINC file, None for any other text."""
    if path.name not in ("train.txt", "val.txt") or not (path.parent / "truth.npz").is_file():
        return None
    world, training, validation = read_truth(path.parent)
    return world.vocabulary, training if path.name == "train.txt" else validation


def chosen_unit(words: bool, characters: bool) -> Unit:
    if words == characters:
        raise BadConfig("a text is learned by `--words` or by `--characters`: exactly one must be given")
    return "words" if words else "characters"


def prepare(source: TextSource, choices: Choices) -> TrainingData:
    """The text's pieces; its graph is made from the pieces as they are, however they were spliced for training."""
    if choices.resumed is not None:
        choices.resumed.check_walks(source.training)
    some = _some_of(source.plain)
    return TrainingData(
        "text",
        source.training,
        map_walks=some,
        defaults=text_defaults(choices.preset, choices.encoder, source.plain.num_observations),
        reading=source.reading,
        concept=None if source.concept is None else source.concept[: some.num_walks],
        concept_names=source.names,
    )


def text_defaults(preset: str, encoder: str, vocabulary: int = 0) -> dict[str, Any]:
    """What a text's model and training have in place of a room's; narrower heads for a very large vocabulary."""
    if preset == "paper":
        return _PAPER
    chosen = "gru" if encoder == "auto" else encoder
    wide = {"encoder": chosen, **_FAST[chosen]}
    rows = ModelConfig.num_codes + _ANY["head_width"]
    outputs = ModelConfig.prediction_steps * vocabulary
    return wide if rows * outputs <= _MOST_OUTPUT_NUMBERS else {**wide, **_NARROW}


def _some_of(walks: Walks) -> Walks:
    """The first pieces, as many as a graph needs."""
    return walks.rows(slice(0, max(1, _MAP_UNITS // walks.num_steps)))


def build_maps(run: Run, data: TrainingData) -> None:
    """The latent graph and, where the truth lies beside the text, the concept of each of its nodes."""
    walks = data.walks if data.map_walks is None else data.map_walks
    codes, _ = run.encode(walks)
    graph = latent_graph(codes, walks)
    save_map(run.folder / MAP_FILES["minimal"], graph)
    _baselines(run, data).save(run.folder / BASELINES_FILE)
    if data.concept is not None:
        from cogmap.evaluation.concepts import node_concepts
        from cogmap.planning.localise import nodes_by_code

        found = node_concepts(graph, nodes_by_code(graph, codes), data.concept, data.concept_names)
        found.save(run.folder / CONCEPTS_FILE)


def _baselines(run: Run, data: TrainingData) -> TextBaselines:
    """What counting predicts of the text that the model was validated on."""
    from cogmap.evaluation.text_baselines import text_baselines
    from cogmap.training.split import split_walks

    split = split_walks(data.walks, data.targets, run.training.seed, data.rooms, run.training.hold_out)
    return text_baselines(split.training, split.validation)


def early_map(codes: Codes, walks: Walks) -> CognitiveMap:
    return latent_graph(codes, walks)


def map_walks(run: Run, walks: Walks, kind: MapKind, progress: Progress | None = None) -> CognitiveMap:
    return latent_graph(run.encode(walks)[0], walks)


def evaluate(run: Run, test: TestWalks, options: EvaluationOptions) -> Evaluation:
    """The share of next units predicted: a text has no places to plan between."""
    from cogmap.evaluation.scores import score_without_truth

    graph = None if run.config.vanilla else run.map
    scores = score_without_truth(graph, run.predict(test.walks), test.walks)
    return Evaluation(scores, asdict(scores), aligned(scores.printed()), SCORE_FILES["minimal"])


@dataclass(frozen=True)
class PromptScores:
    """In-context accuracy by kind of prompt."""

    rows: tuple[InContextRow, ...]


def evaluate_prompts(run: Run, path: Path, options: EvaluationOptions) -> Evaluation:
    """How often a run names the most likely last word of GINC prompts; prompts of one length are read together."""
    from cogmap.environments.ginc import read_prompts
    from cogmap.evaluation.prompts import in_context_rows
    from cogmap.models.inference import complete, fits_context

    labels = run.observation_labels
    if run.task != "text" or labels is None:
        raise BadRun(f"prompts need a run on a text, {run.folder} is not one")
    rows, lines = [], []
    for row in in_context_rows(
        lambda tokens: complete(run.model, tokens, labels), read_prompts(path, labels)
    ):
        line = _prompt_line(row, fits_context(run.config, row.tokens))
        options.tell(line)
        rows.append(row)
        lines.append(line)
    return Evaluation(PromptScores(tuple(rows)), [asdict(row) for row in rows], tuple(lines), None)


def _prompt_line(row: InContextRow, all_read: bool) -> str:
    line = f"  k={row.length} n={row.examples}: {100 * row.accuracy:.1f} ({100 * row.standard_error:.1f})"
    return line if all_read else f"{line}, without the beginning of its {row.tokens} tokens"


def write_report(run: Run, walks: Path | None, beside: Run | None) -> Path:
    """The page of a text: it has no places to be scored at, and no plans to be shown."""
    from cogmap.report.layout import layout_map
    from cogmap.report.text_page import TextMaterial, write_text_report
    from cogmap.tasks.reporting import learn_command, report_command

    if walks is not None or beside is not None:
        raise BadConfig(
            f"the report of a text takes neither --walks nor --beside, {run.folder} is a run on a text"
        )
    graph, reading = run.map, run.text_reading
    material = TextMaterial(
        name=run.name,
        unit=reading.unit,
        config=run.stored,
        graph=graph,
        layout=layout_map(graph, polished=_POLISHED_NODES),
        rows=run.metrics(),
        concepts=run.concepts(graph.num_nodes),
        baselines=run.text_baselines(),
    )
    learned = f"{learn_command(run, 'TEXT.txt')} --{reading.unit} --least-count {reading.least_count}"
    learned += f" --splice {reading.splice}" if reading.splice else ""
    return write_text_report(run.folder, material, [learned, report_command(run.folder, None, None)])
