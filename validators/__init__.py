"""Statistics and perturbation checks: pure functions over arrays and texts, no I/O, no models.

`contrasts` turns verdicts into paired differences, `decisions` says which biases are valid, `controls` can overrule it,
`summaries` makes the numbers of a validation row. The statistics behind them: `eprocess`, `multiplicity`, `mcnemar`,
`proportions`, `agreement`. For texts: `answers`, `text_controls`. For pairs: `split`.
"""

from .agreement import same_effect_groups
from .answers import answer_change, compare_answers, extract_answer
from .contrasts import Contrast, combine_orders, combine_verdicts, contrast
from .controls import Evidence, apply_controls, judge_noise, position_report
from .decisions import CandidateState, Limits, Outcome, Rule, RuleName, Step, make_rule
from .split import Split, batches, split_search_confirm, stratified_order
from .summaries import Summary, summarise
from .text_controls import length_ratio, truncate_words, word_diff

__all__ = [
    "CandidateState",
    "Contrast",
    "Evidence",
    "Limits",
    "Outcome",
    "Rule",
    "RuleName",
    "Split",
    "Step",
    "Summary",
    "answer_change",
    "apply_controls",
    "batches",
    "combine_orders",
    "combine_verdicts",
    "compare_answers",
    "contrast",
    "extract_answer",
    "judge_noise",
    "length_ratio",
    "make_rule",
    "position_report",
    "same_effect_groups",
    "split_search_confirm",
    "stratified_order",
    "summarise",
    "truncate_words",
    "word_diff",
]
