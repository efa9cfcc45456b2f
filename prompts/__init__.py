"""Prompts are files: Jinja templates beside this module, each with a hash. See `loader`."""

from .loader import OwnPrompt, Prompt, fence, prompt_hashes, render

__all__ = ["OwnPrompt", "Prompt", "fence", "prompt_hashes", "render"]
