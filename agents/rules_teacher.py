"""The rules teacher: perturbs by the edits of the text-feature lexicon, without a model."""

import random
from collections.abc import Mapping, Sequence

from ..bias_library.features import (
    Feature,
    load_features,
    nearest_feature,
    neutral_words,
    write_matched,
    write_neutral,
)
from ..core.calls import Stage
from ..core.errors import CallFailed
from ..core.ids import seed_from
from ..core.records import PLACEBO, Bias, Perturbation, PreferencePair, bias_arm
from .teacher import Teacher, rewritten

LEFT_TO_MODELS = "it is left to an LLM teacher (teacher: a model, without rewrites: rules)"


class RulesTeacher:
    """A teacher that edits: the same pair, bias, seed and draw always give the same text.

    `features` are those it can write (the packaged lexicon by default; add your own with
    `load_features() | user_features(path)`). Both arms are the answer with something put in, of about the same length,
    so what they differ in is the feature.
    """

    def __init__(self, run_id: str, features: Mapping[str, Feature] | None = None, *, seed: int = 0) -> None:
        self._run_id = run_id
        self._features = load_features() if features is None else dict(features)
        self._seed = seed
        self._recipes: dict[str, Feature | None] = {}

    @property
    def name(self) -> str:
        """Always `rules`."""
        return "rules"

    def recipe(self, bias: Bias) -> Feature | None:
        """The feature that writes `bias`, or None where no edit does."""
        if bias.id not in self._recipes:
            self._recipes[bias.id] = nearest_feature(bias.name, bias.definition, self._features)
        return self._recipes[bias.id]

    async def perturb(self, pair: PreferencePair, bias: Bias, *, stage: Stage) -> Perturbation:
        """The rejected answer with the bias's feature written in.

        Raises CallFailed: `no_recipe` when no feature writes this bias (an LLM teacher may), `unchanged` when the edit
        leaves the text as it is.
        """
        feature = self.recipe(bias)
        if feature is None:
            raise CallFailed("no_recipe", f"no feature of the lexicon writes {bias.name!r}: {LEFT_TO_MODELS}")
        rng = self._generator(pair, feature.name, 0)
        text = write_matched(feature, pair.rejected, rng, pair.prompt)
        if text.split() == pair.rejected.split() and text.strip() == pair.rejected.strip():
            raise CallFailed("unchanged", f"the edit {feature.name!r} leaves this answer as it is", text)
        return rewritten(self._run_id, pair, bias_arm(bias.id), text, self.name, 0)

    async def placebo(self, pair: PreferencePair, *, stage: Stage, draw: int = 0) -> Perturbation:
        """The rejected answer with neutral sentences, as long as the lexicon's edits usually are."""
        rng = self._generator(pair, PLACEBO, draw)
        text = write_neutral(pair.rejected, rng, neutral_words(pair.rejected), pair.prompt)
        return rewritten(self._run_id, pair, PLACEBO, text, self.name, draw)

    async def mix(self, pair: PreferencePair, features: Sequence[str], arm: str, *, stage: Stage) -> Perturbation:
        """The rejected answer with several features at once, named, one after the other.

        Raises CallFailed('unchanged') when the edits leave the text as it is.
        """
        text = self._mixed(pair, features)
        if text.split() == pair.rejected.split():
            raise CallFailed("unchanged", f"the edits {', '.join(features)} leave this answer as it is", text)
        return rewritten(self._run_id, pair, arm, text, self.name, 0)

    def _mixed(self, pair: PreferencePair, features: Sequence[str]) -> str:
        text = pair.rejected
        for name in features:
            text = self._features[name].write(text, self._generator(pair, name, 0), pair.prompt)
        return text

    def _generator(self, pair: PreferencePair, what: str, draw: int) -> random.Random:
        return random.Random(seed_from("rules", self._seed, pair.id, what, draw))


class EditsFirst:
    """A teacher that edits where a feature writes the bias, and has a model rewrite where none does.

    For answers that are held against nothing but the original: a model's rewrite and a neutral edit differ in more than
    the bias, so its placebo is no measure of what the model writes.
    """

    def __init__(self, rules: RulesTeacher, model: Teacher) -> None:
        self._rules, self._model = rules, model

    @property
    def name(self) -> str:
        """Both; a perturbation has the name of the one that made it."""
        return f"{self._rules.name}, {self._model.name}"

    async def perturb(self, pair: PreferencePair, bias: Bias, *, stage: Stage) -> Perturbation:
        """As the protocol says."""
        teacher = self._model if self._rules.recipe(bias) is None else self._rules
        return await teacher.perturb(pair, bias, stage=stage)

    async def placebo(self, pair: PreferencePair, *, stage: Stage, draw: int = 0) -> Perturbation:
        """The neutral edit."""
        return await self._rules.placebo(pair, stage=stage, draw=draw)
