"""Preference data for training, from validated biases: DPO pairs and augmented negatives (METHOD sections 6 and 7)."""
