"""Records, content ids, errors and the store: what every other folder shares."""
