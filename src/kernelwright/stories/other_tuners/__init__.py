"""What other tuners are given, as files that our commands take."""
