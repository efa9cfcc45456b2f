"""Audits as jobs: how one is configured, driven and reported. The protocols themselves are in `audits`."""
