"""The sizes and seed of a GINC set. The defaults are those of the published set."""

from __future__ import annotations

from dataclasses import dataclass

from cogmap.errors import BadConfig

LONGEST_PROMPT = 1024  # maximum tokens of the complete examples of a prompt, including delimiters
MOST_TOKENS = 200_000_000  # in one file; a larger set does not fit in memory
MOST_TRANSITIONS = 100_000_000  # entries in all transition tables
SEED_OFFSET = 3  # the slow chain's transitions and the prompts use `seed` + 3
# The minimum of each size, below which a random draw would have an empty range.
LEAST = {
    "concepts": 1,
    "symbols": 2,
    "values": 1,
    "slots": 2,
    "documents": 1,
    "document_length": 2,
    "validation_documents": 1,
    "validation_length": 2,
    "prompts": 1,
}


@dataclass(frozen=True)
class GincConfig:
    """The parameters of a GINC set."""

    concepts: int = 5  # hidden Markov models of the documents; as many more for prompts out of distribution
    symbols: int = 50  # words in the vocabulary, including the delimiter
    values: int = 10  # states of the slow chain
    slots: int = 10  # states of the fast chain; slot 0 emits the delimiter
    documents: int = 1000  # training documents
    document_length: int = 10_240  # tokens in each
    validation_documents: int = 100
    validation_length: int = 1024
    prompts: int = 2500  # for each (length, examples) pair
    prompt_lengths: tuple[int, ...] = (2, 3, 5, 8, 10)  # tokens in an example, k; sampled in this order
    prompt_examples: tuple[int, ...] = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)  # complete examples, n
    transition_temperature: float = 0.1
    start_temperature: float = 10.0
    value_stay: float = 0.9  # weight of the identity in the slow chain's transitions
    seed: int = 1111

    def __post_init__(self) -> None:
        _check_sizes(self)
        _check_prompts(self)
        _check_numbers(self)

    def examples_of(self, length: int) -> tuple[int, ...]:
        """The numbers of examples of `length` tokens that fit into a prompt."""
        return tuple(count for count in self.prompt_examples if (length + 1) * count <= LONGEST_PROMPT)


def _check_sizes(config: GincConfig) -> None:
    for name, least in LEAST.items():
        value = getattr(config, name)
        if value < least:
            raise BadConfig(f"`{name}` (={value}) must be at least {least}")
    for count, length in (("documents", "document_length"), ("validation_documents", "validation_length")):
        tokens = getattr(config, count) * getattr(config, length)
        if tokens > MOST_TOKENS:
            raise BadConfig(f"`{count}` times `{length}` (={tokens}) must be at most {MOST_TOKENS}")
    transitions = 2 * config.concepts * (config.values * config.slots) ** 2
    if transitions > MOST_TRANSITIONS:
        rule = "the transitions of all concepts, 2 `concepts` (`values` `slots`)^2,"
        raise BadConfig(f"{rule} (={transitions}) must be at most {MOST_TRANSITIONS}")


def _check_prompts(config: GincConfig) -> None:
    for name, least in (("prompt_lengths", 2), ("prompt_examples", 0)):
        numbers = getattr(config, name)
        if not numbers or len(set(numbers)) != len(numbers):
            raise BadConfig(f"`{name}` must be one or more different numbers, got {_listed(numbers)}")
        if min(numbers) < least:
            raise BadConfig(f"`{name}` must be at least {least} each, got {_listed(numbers)}")
    for length in config.prompt_lengths:
        if length >= LONGEST_PROMPT:
            raise BadConfig(f"`prompt_lengths` must be below {LONGEST_PROMPT}, got {length}")
        if not config.examples_of(length):
            rule = (
                f"one of `prompt_examples` must fit into {LONGEST_PROMPT} tokens at {length} + 1 tokens each"
            )
            raise BadConfig(f"{rule}, got {_listed(config.prompt_examples)}")
        tokens = config.prompts * (length + 1) * (max(config.examples_of(length)) + 1)
        if tokens > MOST_TOKENS:
            raise BadConfig(f"`prompts` of one length (={tokens} tokens) must hold at most {MOST_TOKENS}")


def _check_numbers(config: GincConfig) -> None:
    for name in ("transition_temperature", "start_temperature"):
        if not getattr(config, name) > 0:
            raise BadConfig(f"`{name}` (={getattr(config, name)}) must be above 0")
    if not 0 <= config.value_stay <= 1:
        raise BadConfig(f"`value_stay` (={config.value_stay}) must be between 0 and 1")
    if not 0 <= config.seed < 2**32 - SEED_OFFSET:
        raise BadConfig(f"`seed` (={config.seed}) must be in [0, 2^32 - {SEED_OFFSET})")


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers)) or "none"
