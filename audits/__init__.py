"""Protocols beside the loop that look at a judge: each reads preference pairs and a judge, and writes rows."""
