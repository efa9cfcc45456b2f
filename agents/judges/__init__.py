"""The kinds of judges that can be audited, one per file, behind the protocol in `protocol`."""
