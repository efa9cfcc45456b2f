"""Training of judges and scorers on what the builders make (METHOD sections 6 and 7). Needs the extra `train`.

Nothing here is imported before a training is asked for: torch alone takes seconds to load.
"""
