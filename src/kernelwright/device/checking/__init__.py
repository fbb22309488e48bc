"""What ``kw check`` looks for: checked launches, other orders, and what was found."""
