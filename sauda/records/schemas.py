"""The shape of each kind of artifact's data, so that a damaged file is refused when it is read.

pydantic checks them: it comes with Gradio, and its refusal names the place.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, FiniteFloat, TypeAdapter, ValidationError
from typing_extensions import TypedDict

STRICT = ConfigDict(extra="forbid", strict=True)
Cell = FiniteFloat | int | bool | str | None


class _Strict(TypedDict):
    __pydantic_config__ = STRICT


class Metric(_Strict):
    mean: float
    low: float
    high: float
    sd: float
    iqm: float
    difference: NotRequired[float]
    difference_low: NotRequired[float]
    difference_high: NotRequired[float]


class Hashes(_Strict):
    task: str
    opponents: str
    policy: str


class Row(_Strict):
    task: str
    policy: str
    n: int
    deals: int
    share: Metric
    grade: Metric
    deal_rate: float
    success_rate: float
    rounds: float
    ends: dict[str, int]
    hashes: Hashes


class Columns(_Strict):
    end: str
    price: list[FiniteFloat | None]
    rounds: list[int]
    share: list[FiniteFloat]
    grade: list[FiniteFloat]


class Evaluation(_Strict):
    ends: dict[str, str]
    rows: list[Row]
    episodes: dict[str, dict[str, Columns]]


class LadderRow(Row):
    moves: int
    unparsed: int
    changed: int
    tokens: int
    retreats: int
    broken: int
    over_limit: int
    accept_due: int
    accepted: int
    walk_due: int
    walked: int


class LadderColumns(Columns):
    moves: list[int]
    unparsed: list[int]
    changed: list[int]
    tokens: list[int]
    retreats: list[int]
    broken: list[int]
    over_limit: list[int]
    accept_due: list[int]
    accepted: list[int]
    walk_due: list[int]
    walked: list[int]


class Climb(_Strict):
    """What a stage of training adds to the one before, bare, on the same seeds."""

    task: str
    before: str
    after: str
    on: Literal["all", "unseen"]
    n: int
    difference: FiniteFloat
    low: FiniteFloat
    high: FiniteFloat


class Way(_Strict):
    """How far a trained stage is, bare, from the base to the belief buyer: 0 to 1."""

    task: str
    policy: str
    n: int
    part: FiniteFloat
    low: FiniteFloat
    high: FiniteFloat


class LadderModel(_Strict):
    source: str
    origin: str
    sha256: str
    cpu: str
    prompt: str
    parser: str
    sampling: dict[str, float]


class Ladder(_Strict):
    ends: dict[str, str]
    rows: list[LadderRow]
    climbs: list[Climb]
    ways: list[Way]
    episodes: dict[str, dict[str, LadderColumns]]
    models: dict[str, LadderModel]


class Compared(_Strict):
    task: str
    policy: str
    metric: Literal["surplus", "deal_rate", "longest"]
    published: float
    measured: float
    deals: int
    error: float
    z: float | None
    equal: bool


class Agreement(_Strict):
    figures: int
    without_error: int
    without_error_equal: int
    within_two: int
    within_three: int


class Won(_Strict):
    """What a policy wins on one side; None where its episodes do not end."""

    surplus: FiniteFloat | None
    deal_rate: FiniteFloat | None
    grade: FiniteFloat | None


class Difference(_Strict):
    difference: str
    task: str
    policy: str
    deals: int
    published: Won
    measured: Won
    ends: dict[str, int]


class Rule(_Strict):
    """One deliberate difference in words: the published rule, and ours with its reason."""

    name: str
    published: str
    ours: str


class Reproduction(_Strict):
    rows: list[Compared]
    agreement: Agreement
    differences: list[Difference]
    rules: list[Rule]


class Move(_Strict):
    agent: str
    action: Literal["offer", "accept", "walk", "forfeit"]
    price: NotRequired[FiniteFloat]
    message: NotRequired[str]
    error: NotRequired[str]


class Recorded(_Strict):
    task: str
    policy: str
    seed: int
    end: str
    payoffs: dict[str, FiniteFloat]
    grade: float
    moves: list[Move]


class Episodes(_Strict):
    episodes: list[Recorded]


class WrittenGame(Recorded):
    """An episode of a language model, with its reply at each of its own turns."""

    replies: list[str]


class ChosenPair(_Strict):
    why: Literal["best", "median", "worst"]
    seed: int
    difference: FiniteFloat  # of the grades, after less before
    before: WrittenGame
    after: WrittenGame


class BeforeAfterTask(_Strict):
    task: str
    seeds: list[int]
    before: list[FiniteFloat]  # a grade a seed
    after: list[FiniteFloat]
    chosen: list[ChosenPair]


class BeforeAfter(_Strict):
    tasks: list[BeforeAfterTask]
    models: dict[str, LadderModel]


class PublishedFigure(_Strict):
    id: str
    system: Literal["bazaar", "arena", "agreemate"]
    title: str
    source: str
    n: int | None
    n_of: str
    caveat: str
    columns: list[str]
    rows: list[list[Cell]]


class Published(_Strict):
    figures: list[PublishedFigure]


class Speed(TypedDict):
    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # each says how it was measured
    name: str
    unit: str
    n: int
    median: float
    samples: list[FiniteFloat]


class SpeedRatio(_Strict):
    """How many times one figure another is, sample by sample; both were timed in one run."""

    of: str
    to: str
    n: int
    median: float
    samples: list[FiniteFloat]


class Bench(_Strict):
    machine: dict[str, Any]
    figures: list[Speed]
    ratios: list[SpeedRatio]
    left_out: list[str]


class Interval(_Strict):
    mean: float
    low: float
    high: float


class SharedInterval(Interval):
    share: float
    flagged: bool


class Contestant(SharedInterval):
    policy: str


class GridError(_Strict):
    n: int
    mean: float
    max: float


class Search(_Strict):
    tried: int
    n: int
    best: str
    train: SharedInterval
    holdout: SharedInterval


class SellerTypeRow(_Strict):
    type: str
    n: int
    informed: Interval
    belief: SharedInterval | None
    policies: list[Contestant]


class OracleRow(_Strict):
    task: str
    n: int
    bound: Literal["optimum", "upper"]
    no_zopa: float
    informed: Interval
    informed_play: SharedInterval
    grid_error: GridError
    belief: SharedInterval | None
    policies: list[Contestant]
    search: Search
    types: list[SellerTypeRow]


class Oracle(_Strict):
    grid: int
    near: float
    rows: list[OracleRow]


class SignalRow(_Strict):
    signal: str
    cause: str | None
    r2: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]


class Manner(_Strict):
    task: str
    games: int
    replies: int
    signals: list[SignalRow]


class Words(_Strict):
    n: int
    prices: Interval
    with_words: Interval
    gain: Interval


class Career(_Strict):
    then: str
    n: int
    firm: list[Interval]
    soft: list[Interval]
    lost: Interval


class Market(_Strict):
    manner: list[Manner]
    words: Words
    careers: list[Career]


class TypeScores(_Strict):
    brier: float
    log_loss: float
    calibration_error: float
    right: float


class Coverage(Interval):
    level: float


class CalibrationRow(_Strict):
    task: str
    round: int
    evidence: str
    n: int
    coverage: list[Coverage]
    width: Interval
    error: Interval
    types: TypeScores


class InputsRow(_Strict):
    task: str
    games: int
    n: int
    beliefs: Interval
    distance: Interval
    moves: Interval


class OutcomeRow(_Strict):
    task: str
    n: int
    belief: Interval
    belief_prices: Interval
    difference: Interval


class Believed(_Strict):
    uninformed: TypeScores
    calibration: list[CalibrationRow]
    inputs: list[InputsRow]
    outcomes: list[OutcomeRow]


class ReadingRow(_Strict):
    reader: str
    split: Literal["dev", "held_out"]
    language: str
    n: int
    signal: str
    true: int
    false: int
    missed: int
    precision: Interval | None
    recall: Interval | None
    f1: Interval | None


class PriceRow(_Strict):
    reader: str
    split: Literal["dev", "held_out"]
    language: str
    n: int
    priced: int
    exact: int
    other: int
    missed: int
    unpriced: int
    false: int
    found: Interval | None
    invented: Interval | None


class ReadSentence(_Strict):
    text: str
    language: str
    split: Literal["dev", "held_out"]
    signals: str
    price: float | None
    sauda_signals: str
    sauda_price: float | None
    keywords_signals: str
    keywords_price: float | None


class BlindPriceRow(PriceRow):
    kind: str


class BlindSentence(ReadSentence):
    kind: str


class BlindLanguage(_Strict):
    rows: list[ReadingRow]
    prices: list[BlindPriceRow]
    sentences: list[BlindSentence]


class Language(_Strict):
    rows: list[ReadingRow]
    prices: list[PriceRow]
    sentences: list[ReadSentence]
    blind: BlindLanguage


class JudgedRow(_Strict):
    advocate: str
    label: str
    n: int
    win_rate: Interval
    total: Interval
    early_win_rate: Interval
    late_win_rate: Interval
    difference: Interval
    lies: float


class JudgedCurve(_Strict):
    won: list[Interval]
    total: list[Interval]


class Finding(_Strict):
    dimension: str
    status: Literal["holds", "false", "repeated", "promise", "other", "unheard"]
    start: int
    end: int
    reason: str
    points: float


class Verdict(_Strict):
    text: str
    scores: dict[str, float]
    total: float
    lies: int
    findings: list[Finding]
    reasons: dict[str, str]


class JudgedRound(_Strict):
    round: int
    strategy: str
    winner: str | None
    reason: str
    margins: dict[str, float]
    reputations: dict[str, float]
    shocks: list[str]
    verdicts: dict[str, Verdict]


class JudgedGame(_Strict):
    seed: int
    why: Literal["best", "median", "worst"]
    wins: int
    control_wins: int
    rounds: list[JudgedRound]


class Judged(_Strict):
    learner: str
    control: str
    arms: list[str]
    early_rounds: int
    rows: list[JudgedRow]
    learning: Interval
    curves: dict[str, JudgedCurve]
    frequencies: dict[str, dict[str, list[float]]]
    wins: dict[str, list[int]]
    shown: list[JudgedGame]


class SelectorEpisode(_Strict):
    episode: int
    task: str
    seed: int
    policy: str
    reward: float
    expert: float
    baseline: float
    before: list[FiniteFloat]
    after: list[FiniteFloat]


class SelectorEnd(_Strict):
    task: str
    n: int
    policy: str
    probabilities: list[FiniteFloat]
    arms: dict[str, Interval]
    less_expert: Interval


class Selector(_Strict):
    arms: list[str]
    curve: list[SelectorEpisode]
    final: list[SelectorEnd]


class ArenaColumns(_Strict):
    end: str
    utility: list[FiniteFloat]
    grade: list[FiniteFloat]
    reward: list[FiniteFloat]
    actions: list[int]
    valid: list[int]
    jobs: list[int]
    jobs_had: list[int]
    components: dict[str, list[FiniteFloat]]


class ArenaRow(_Strict):
    others: str
    task: str
    policy: str
    n: int
    grade: Metric
    utility: Metric
    reward: Metric
    actions: int
    valid: float
    jobs: Interval
    jobs_had: float
    correlation: Interval | None
    above_bound: int
    components: dict[str, Interval]
    ends: dict[str, int]
    hashes: Hashes


class ArenaLadderRow(ArenaRow):
    unparsed: int
    tokens: int


class ArenaLadderColumns(ArenaColumns):
    unparsed: list[int]
    tokens: list[int]


class ArenaCorrelation(_Strict):
    others: str
    task: str
    n: int
    correlation: Interval | None


class ArenaBound(_Strict):
    task: str
    n: int
    solved: int
    grade: Interval
    utility: Interval
    reward: Interval


class ArenaExample(_Strict):
    component: str
    task: str
    policy: str
    seed: int
    step: int
    round: int
    words: str
    code: str
    amount: float


class ArenaWorlds(_Strict):
    stake: list[FiniteFloat]
    batna: list[FiniteFloat]
    bound: list[FiniteFloat]
    solved: int


class Arena(_Strict):
    ends: dict[str, str]
    rows: list[ArenaRow]
    correlations: list[ArenaCorrelation]
    bounds: list[ArenaBound]
    examples: list[ArenaExample]
    worlds: dict[str, ArenaWorlds]
    episodes: dict[str, dict[str, dict[str, ArenaColumns]]]


class ArenaLadder(_Strict):
    ends: dict[str, str]
    rows: list[ArenaLadderRow]
    climbs: list[Climb]
    bounds: list[ArenaBound]
    worlds: ArenaWorlds
    episodes: dict[str, ArenaLadderColumns]
    models: dict[str, LadderModel]


class SellerGame(_Strict):
    setting: Literal["published", "hard"]
    buyer: str
    persona: str
    seed: int
    item: str
    floor: int
    asks: list[int]
    bids: list[int]
    kinds: list[str]
    end: str
    price: int | None


class SellerCell(Interval):
    n: int
    of: str
    meets: bool | None


class SellerRow(_Strict):
    criterion: str
    about: str
    test: Literal["published", "better"]
    target: str
    published: float | None
    sides: dict[str, SellerCell]


class SellerJudges(_Strict):
    personas: list[str]
    tables: dict[str, list[list[int]]]


class SellerModel(_Strict):
    source: str
    sha256: str
    sampling: dict[str, float]
    prompt: str
    check: str


class SellerQuality(_Strict):
    games: list[SellerGame]
    tries: dict[str, list[list[list[str]]]]
    answers: dict[str, list[str]]
    rows: list[SellerRow]
    judges: SellerJudges
    faults: dict[str, dict[str, int]]
    models: dict[str, SellerModel]


class RunStep(_Strict):
    step: int
    tokens: int
    seconds: FiniteFloat
    loss: FiniteFloat
    learning_rate: FiniteFloat
    grad_norm: FiniteFloat
    mean_token_accuracy: NotRequired[FiniteFloat | None]
    entropy: NotRequired[FiniteFloat | None]
    # of GRPO; shares are of the step's games, groups or moves
    reward: NotRequired[FiniteFloat | None]  # mean grade
    low: NotRequired[FiniteFloat | None]  # least and highest grade
    high: NotRequired[FiniteFloat | None]
    spread: NotRequired[FiniteFloat | None]  # mean standard deviation within groups
    zero_advantage: NotRequired[FiniteFloat | None]  # groups whose grades are all equal
    format: NotRequired[FiniteFloat | None]  # replies that hold a move
    deals: NotRequired[FiniteFloat | None]  # games that end in one
    kl: NotRequired[FiniteFloat | None]  # from the adapter it began with, nats a token
    length: NotRequired[FiniteFloat | None]  # learnt tokens a game
    step_seconds: NotRequired[FiniteFloat | None]
    # of DPO
    margin: NotRequired[FiniteFloat | None]  # of the rewards that DPO implies
    accuracy: NotRequired[FiniteFloat | None]  # pairs whose chosen reply has the higher one
    chosen: NotRequired[FiniteFloat | None]
    rejected: NotRequired[FiniteFloat | None]


class RunProbe(_Strict):
    """Games played by the adapter as it stood after `step`."""

    step: int
    n: int
    reward: FiniteFloat
    low: FiniteFloat  # of a 95 % interval
    high: FiniteFloat


class RunAfter(_Strict):
    name: str
    sha256: str


class RunGames(_Strict):
    task: dict[str, int]  # groups of each task
    group: int  # games of one instance
    first_seed: int
    last_seed: int


class RunPairs(_Strict):
    n: int
    task: dict[str, int]
    moves: dict[str, int]  # of the chosen replies
    gap: FiniteFloat  # mean difference of the grades
    judge: dict[str, FiniteFloat] | None  # an LLM's, where there was one
    seconds: FiniteFloat  # that the search for them took, beside the run's own
    sha256: str


class RunBase(_Strict):
    name: str
    origin: str
    sha256: str
    precision: str


class RunAdapter(_Strict):
    name: str
    sha256: str
    bytes: int


class RunRows(_Strict):
    rows: int
    learnt: int
    moves: dict[str, int]
    task: dict[str, int]
    kind: dict[str, int]
    register: dict[str, int]
    tokens: dict[str, int]
    sha256: str


class RunGate(_Strict):
    n: int
    valid: FiniteFloat
    accepted: NotRequired[FiniteFloat]  # by the arena's rules
    same_kind: FiniteFloat
    price_off: FiniteFloat | None
    tokens: FiniteFloat
    faults: list[str]
    completions: list[str]
    passed: bool


class RunHardware(_Strict):
    device: str
    cores: int
    threads: int
    packages: dict[str, str]


class RunToken(_Strict):
    text: str
    learnt: bool


class TrainingRun(_Strict):
    stage: str
    base: RunBase
    after: NotRequired[RunAfter | None]  # the adapter that it goes on from
    adapter: RunAdapter
    rows: NotRequired[RunRows]  # of SFT
    games: NotRequired[RunGames]  # of GRPO
    pairs: NotRequired[RunPairs]  # of DPO
    log: list[RunStep]
    probes: NotRequired[list[RunProbe]]
    resumed: list[int]
    gate: RunGate
    hardware: RunHardware
    seconds: FiniteFloat
    tokens: int
    sample: list[RunToken]  # one sequence, what is learnt of it marked


KINDS: Mapping[str, TypeAdapter] = {
    "evaluation/1": TypeAdapter(Evaluation),
    "ladder/1": TypeAdapter(Ladder),
    "reproduction/1": TypeAdapter(Reproduction),
    "episodes/1": TypeAdapter(Episodes),
    "before_after/1": TypeAdapter(BeforeAfter),
    "published/1": TypeAdapter(Published),
    "bench/2": TypeAdapter(Bench),
    "oracle/1": TypeAdapter(Oracle),
    "market/1": TypeAdapter(Market),
    "belief/1": TypeAdapter(Believed),
    "language/1": TypeAdapter(Language),
    "judged/1": TypeAdapter(Judged),
    "selector/1": TypeAdapter(Selector),
    "arena/1": TypeAdapter(Arena),
    "arena_ladder/1": TypeAdapter(ArenaLadder),
    "seller_quality/1": TypeAdapter(SellerQuality),
    "run/1": TypeAdapter(TrainingRun),
}


def check(kind: str, data: Any) -> None:
    """Raise ValueError naming the first place where `data` is not of that kind."""
    try:
        KINDS[kind].validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in ("data", *first["loc"]))
        raise ValueError(f"{place}: {first['msg'].lower()}") from None
