"""The reliability profile of a judge: right, steady, decided, calibrated, and at what price."""
