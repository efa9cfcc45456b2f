"""How long the index of biases takes to build and to search, by the number of biases in it.

    python benchmarks/faiss_index.py [--sizes 1000 10000 100000] [--threads 1]

The vectors are random directions: an exact index takes as long whatever they are. One vector a search, as merging asks.
"""

import argparse
import json
import time

import faiss
import numpy as np
from biasscope.bias_library.index import build

DIMENSIONS, NEAREST, SEARCHES = 384, 5, 101


def milliseconds(call) -> float:
    """Wall-clock time of one call."""
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)


def measure(size: int, generator: np.random.Generator) -> dict[str, float]:
    """Milliseconds to build, and the median and 90th percentile of a search."""
    vectors = {f"{k:08d}": row for k, row in enumerate(generator.standard_normal((size, DIMENSIONS), np.float32))}
    started = time.perf_counter()
    index = build(vectors)
    built = 1000 * (time.perf_counter() - started)
    asked = generator.standard_normal((SEARCHES, 1, DIMENSIONS), np.float32)
    took = [milliseconds(lambda row=row: index.nearest(row, NEAREST)) for row in asked]
    return {
        "biases": size,
        "build_ms": round(built, 1),
        "search_ms_median": round(float(np.median(took)), 3),
        "search_ms_90": round(float(np.quantile(took, 0.9)), 3),
    }


def main() -> None:
    """Read the command line, measure every size, print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--threads", type=int, default=1, help="of FAISS; more only help on idle cores")
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(arguments.threads)
    generator = np.random.default_rng(0)
    rows = [measure(size, generator) for size in arguments.sizes]
    print(json.dumps({"threads": arguments.threads, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
