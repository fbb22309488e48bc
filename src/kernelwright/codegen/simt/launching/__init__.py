"""The fourth stage: host IR compiled into memory and launched, with the runtime in C beside it; what a launch did."""
