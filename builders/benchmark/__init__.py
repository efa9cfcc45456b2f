"""Hard benchmarks: biased variants of pairs, filtered, checked, annotated, published, evaluated (METHOD section 5)."""
