"""The side-effect matrix of the text-feature lexicon, and the page docs/features.md that it fills.

    python benchmarks/features.py [--pairs 60] [--texts FILE] [--csv FILE] [--docs] [--json]

Without --texts: the texts of feature_texts.yaml and the rejected answers of built-in pairs. A file holds YAML or JSON
lines with `text` and `question`. --docs writes docs/features.md. No model; about half a minute for 60 pairs.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import yaml
from biasscope.bias_library.features import load_features
from biasscope.bias_library.features.side_effects import BOUND, related, side_effects
from biasscope.data.builtin import builtin_pairs

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "features.md"
MARK = "<!-- what follows is written by benchmarks/features.py --docs -->"
SHOWN = 3
LEAST = 0.15


def main() -> None:
    """Print the strongest side effects; write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    texts = read(options.texts or HERE / "feature_texts.yaml")
    if not options.texts:
        texts += [(pair.rejected, pair.prompt) for pair in builtin_pairs(options.pairs)]
    features = load_features()
    matrix = side_effects(texts, features)
    names = list(features)
    print(f"{len(names)} features, {len(texts)} texts")
    print(summary(matrix, names))
    for value, edit, shows in strongest(matrix, names, LEAST):
        print(f"  {edit:20} -> {shows:20} {value:+.2f}")
    if options.csv:
        lines = [",".join(["edit", *names])]
        lines += [",".join([name, *(f"{v:.4f}" for v in row)]) for name, row in zip(names, matrix, strict=True)]
        options.csv.write_text("\n".join(lines) + "\n")
    if options.docs:
        PAGE.write_text(page(features, matrix, len(texts)), encoding="utf-8")
    if options.json:
        json.dump(
            {name: dict(zip(names, row, strict=True)) for name, row in zip(names, matrix, strict=True)}, sys.stdout
        )


def read(path):
    """(text, question) from YAML, or JSON lines."""
    source = path.read_text(encoding="utf-8")
    rows = [json.loads(line) for line in source.splitlines()] if path.suffix == ".jsonl" else yaml.safe_load(source)
    return [(row["text"], row.get("question", "")) for row in rows]


def strongest(matrix, names, least):
    """Off-diagonal entries of at least `least`, the largest first."""
    off = np.where(np.eye(len(names), dtype=bool), 0.0, matrix)
    order = np.argsort(-np.abs(off), axis=None)
    cells = ((int(i), int(j)) for i, j in zip(*np.unravel_index(order, off.shape), strict=True))
    return [(float(off[i, j]), names[i], names[j]) for i, j in cells if abs(off[i, j]) >= least]


def summary(matrix, names):
    """How clean the edits are, in one line."""
    off = np.abs(matrix[~np.eye(len(names), dtype=bool)])
    known = {(r.edit, r.shows) for r in related()}
    rest = [abs(v) for v, a, b in strongest(matrix, names, 0.0) if (a, b) not in known]
    return (
        f"off-diagonal shares: median {np.median(off):.3f}, 99 % under {np.quantile(off, 0.99):.2f}, "
        f"{np.mean(off >= 0.1):.1%} at 0.10 or more, largest {off.max():.2f}; "
        f"largest among pairs not listed as related {max(rest):.2f} (bound {BOUND})"
    )


def page(features, matrix, texts):
    """docs/features.md: its text by hand up to the mark, and the lists after it."""
    names = list(features)
    by_edit = defaultdict(list)
    for value, edit, shows in strongest(matrix, names, LEAST):
        by_edit[edit].append(f"{shows} {value:+.2f}")
    kept = PAGE.read_text(encoding="utf-8").split(MARK)[0]
    lines = [kept + MARK, ""]
    lines += [f"{len(names)} features over {texts} texts: {summary(matrix, names)}.", ""]
    for dimension in dict.fromkeys(f.dimension for f in features.values()):
        lines += [
            f"### {dimension.capitalize()}",
            "",
            "| feature | bias | measured | side effects |",
            "|---|---|---|---|",
        ]
        for f in features.values():
            if f.dimension == dimension:
                effects = ", ".join(by_edit[f.name][:SHOWN]) or f"none of {LEAST} or more"
                lines.append(f"| `{f.name}` | **{f.title}.** {f.definition} | {f.unit} | {effects} |")
        lines.append("")
    lines += ["## Related pairs", "", "Pairs that belong together by nature, and are not held to the bound:", ""]
    lines += [f"- `{r.edit}` shows in `{r.shows}`: {r.why}." for r in related()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
