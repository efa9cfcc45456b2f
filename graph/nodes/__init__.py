"""The nodes of the loop, one file each: plain async functions that read ids, do their work and return counters."""
