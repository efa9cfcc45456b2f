"""Reliability analyses of finished runs and ablations over runs: one module each, read from the store.

`answers`, `length` and `growth` have the form of the paper's Tables 5 and 6 and Figure 2, `same_effect` groups biases
by the verdicts that they flip, `ablation` runs variants of one configuration (Tables 2, 3, 4 and 7).
"""
