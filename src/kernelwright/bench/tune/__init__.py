"""``kw bench tune``: the tuner beside what is promised, exhaustive search, and a black-box tuner."""
