import numpy as np
from biasscope.builders.preferences.selection import Ledger
from biasscope.builders.preferences.settings import LengthSettings, PreferenceSettings
from biasscope.builders.preferences.units import Unit
from biasscope.core.records import PreferencePair
from biasscope.data.contamination import prompt_key
from hypothesis import given
from hypothesis import strategies as st

UNITS = st.lists(st.tuples(st.booleans(), st.sampled_from([-1, 0, 1]), st.integers(0, 20)), min_size=1, max_size=80)


def ledger(units):
    made = Ledger(3)
    for k, (original, longer, prompt) in enumerate(units):
        pair = PreferencePair(id=f"pair{k}", prompt=f"prompt {prompt}", chosen="c", rejected="r")
        made.add(Unit(pair, () if original else ("b",), longer, {}))
    return made


@given(UNITS, st.floats(0, 1))
def test_untouched_pairs_never_exceed_their_share(units, share):
    kept = ledger(units).keep(PreferenceSettings(original_share=share))
    originals = sum(o for (o, *_), k in zip(units, kept, strict=True) if k)
    touched = sum(not o for o, *_ in units)
    assert kept.sum() - originals == touched  # nothing else is left out
    if share < 1:
        assert originals <= share / (1 - share) * touched + 0.5
        assert originals == min(sum(o for o, *_ in units), round(share / (1 - share) * touched))


@given(UNITS)
def test_balanced_lengths(units):
    settings = PreferenceSettings(original_share=1.0, length=LengthSettings(balance=True))
    kept = ledger(units).keep(settings)
    for group in (True, False):
        signs = [s for (o, s, _), k in zip(units, kept, strict=True) if k and o == group]
        every = [s for o, s, _ in units if o == group]
        assert signs.count(1) == signs.count(-1) == min(every.count(1), every.count(-1))
        assert signs.count(0) == every.count(0)


@given(UNITS, st.floats(0, 0.99), st.integers(1, 30))
def test_validation_takes_whole_prompts(units, share, most):
    made = ledger(units)
    kept = np.array([k % 5 != 0 for k in range(len(units))])
    settings = PreferenceSettings(validation_share=share, validation_most=most)
    held_out = made.validation(kept, settings)
    assert not (held_out & ~kept).any()
    prompts = {prompt for (*_, prompt), k in zip(units, kept, strict=True) if k}
    chosen = {prompt for (*_, prompt), v in zip(units, held_out, strict=True) if v}
    rest = {prompt for (*_, prompt), k, v in zip(units, kept, held_out, strict=True) if k and not v}
    assert not chosen & rest
    assert len(chosen) == min(round(share * len(prompts)), most)


def test_the_same_content_makes_the_same_selection():
    units = [(k % 2 == 0, 1 if k % 3 else -1, k) for k in range(60)]
    settings = PreferenceSettings(original_share=0.3, length=LengthSettings(balance=True), validation_share=0.2)
    one, other = ledger(units), ledger(units)
    assert (one.keep(settings) == other.keep(settings)).all()
    kept = one.keep(settings)
    assert (one.validation(kept, settings) == other.validation(kept, settings)).all()
    assert prompt_key("prompt 1") != prompt_key("prompt 2")
