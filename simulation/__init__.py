"""Simulated endpoints: worlds with planted biases (`world`, `server`), to know whether discovery works."""
