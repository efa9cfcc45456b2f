"""Authors, a panel and a judge with known self-preference, behind one endpoint: it reads texts and names of models."""

import hashlib
import json
import math
import random
import re

from audit_runs import fenced
from biasscope.simulation.scripted import Reply

QUALITY = re.compile(r"quality (\d+\.\d+)")
AUTHOR = re.compile(r"by (\w+)-bot")


def uniform(*parts):
    return int(hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12], 16) / 16**12


def answers(path, prompts, authors, seed=0, shift=None):
    """Answers whose text tells their quality and who wrote them."""
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8") as handle:
        for n in range(prompts):
            outputs = {}
            for author in authors:
                quality = round((6 + rng.gauss(0, 0.5) + (shift or {}).get(author, 0)) * 4) / 4
                outputs[author] = f"An answer of quality {quality:.2f} to number {n}, by {author}-bot."
            handle.write(json.dumps({"prompt": f"Prompt number {n}?", "category": "c", "answers": outputs}) + "\n")
    return path


class PanelWorld:
    """`beta`, `a` and `g` are the judge's coefficients; `hidden` is a quality of an author that grades miss."""

    def __init__(self, beta=0.0, a=1.5, g=0.5, name="me", hidden=None, structured=1.0, label=0.0):
        self.beta, self.a, self.g, self.name = beta, a, g, name
        self.hidden, self.structured, self.label = hidden or {}, structured, label

    def __call__(self, body, times=0):
        model, fields = body["model"], fenced(body)
        if "answer" in fields:
            value = float(QUALITY.search(fields["answer"])[1]) + 0.25 * round(2 * uniform(model, fields["answer"]) - 1)
            return Reply(text=json.dumps(dict.fromkeys(("relevance", "accuracy", "depth", "logic", "clarity"), value)))
        if "answer_a" in fields:
            return self.choose(body, model, fields)
        n = re.search(r"number (\d+)", body["messages"][-1]["content"])[1]
        return Reply(text=f"An answer of quality 6.00 to number {n}, by {model}-bot.")

    def choose(self, body, model, fields):
        text_a, text_b = fields["answer_a"], fields["answer_b"]
        lead = self.worth(model, text_a) - self.worth(model, text_b) + self.g / 2
        by_aspects = "response_format" in body or '"overall"' in body["messages"][-1]["content"]
        if by_aspects:
            lead -= (1 - self.structured) * (self.self_pull(model, text_a) - self.self_pull(model, text_b))
        p = 1 / (1 + math.exp(-lead))
        letter = "A" if uniform(model, text_a, text_b, by_aspects) < p else "B"
        if by_aspects:
            names = ("relevance", "accuracy", "depth", "logic", "clarity", "overall")
            return Reply(text=json.dumps(dict.fromkeys(names, letter)))
        return Reply(
            text=letter,
            logprobs=[
                {
                    letter: math.log(max(p if letter == "A" else 1 - p, 1e-9)),
                    "AB".replace(letter, ""): math.log(max(1 - p if letter == "A" else p, 1e-9)),
                }
            ],
        )

    def worth(self, model, text):
        author = AUTHOR.search(text)[1]
        worth = self.a * (float(QUALITY.search(text)[1]) + self.hidden.get(author, 0.0)) + self.self_pull(model, text)
        return worth + (
            self.label if model == self.name and text.startswith("You wrote this answer yourself.") else 0.0
        )

    def self_pull(self, model, text):
        return self.beta if model == self.name == AUTHOR.search(text)[1] else 0.0
