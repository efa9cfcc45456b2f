"""Pipelines that make data sets from validated biases: hard benchmarks and training pairs."""
