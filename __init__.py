"""BiasScope finds what fools your LLM judge."""

__version__ = "0.1.0"
