"""Frozen test sets of a planted world, whose true effects are known, without a discovery run."""

from biasscope.audits.frozen import FrozenBias, FrozenPair, seal
from biasscope.bias_library.bias import make_bias
from biasscope.core.records import Judgment
from biasscope.data.order import draw_order
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.teaching import rewrite
from biasscope.simulation.world import World


def biases_of(world, features):
    return {
        name: make_bias(world.features[name].spec.title, world.features[name].spec.definition, origin="seed")
        for name in features
    }


def frozen_world(world, n, features, seed=1, both_orders=False):
    """The world's own pairs with its own teacher's rewrites."""
    biases, pairs = biases_of(world, features), []
    for pair in world_pairs(world, n, seed):
        texts = {
            bias.id: rewrite(world, pair.prompt, pair.rejected, f"{bias.name}\n{bias.definition}")
            for bias in biases.values()
        }
        placebo = rewrite(world, pair.prompt, pair.rejected, None)
        pairs.append(FrozenPair(pair=pair, order=draw_order(pair.id), placebo=placebo, texts=texts))
    frozen = [FrozenBias(id=b.id, name=b.name, definition=b.definition, status="valid") for b in biases.values()]
    return seal(pairs, frozen, run="made", judge="world", part="confirm", both_orders=both_orders)


def with_judge(world, **changes):
    """The same world with another judge; `weights` are laid over its own."""
    judge = world.spec.judge
    changes["weights"] = {**judge.weights, **changes.get("weights", {})}
    return World(world.spec.model_copy(update={"judge": judge.model_copy(update=changes)}))


class ScriptedJudge:
    """Says what a function says."""

    gives_reasons = gives_probabilities = gives_scores = False
    has_position = True

    def __init__(self, verdict, name="scripted"):
        self.verdict, self.name, self.asked = verdict, name, []

    async def judge(self, pair, *, arm, rejected_text, order, stage, perturbation_id="", draw=0):
        self.asked.append((pair.id, arm, order, draw, rejected_text))
        return Judgment(
            id=f"{self.name} {pair.id} {arm} {order} {draw}",
            run_id="job",
            pair_id=pair.id,
            arm=arm,
            order=order,
            verdict=self.verdict(pair, arm, order, draw),
            judge=self.name,
            draw=draw,
        )
