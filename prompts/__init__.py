"""Prompts are files: Jinja templates beside this module, each with a hash. See `loader`."""

from .loader import Prompt, fence, prompt_hashes, render

__all__ = ["Prompt", "fence", "prompt_hashes", "render"]
