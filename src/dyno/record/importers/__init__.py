"""Other people's logs as runs that every other command understands."""
