"""Changed inputs that reach what the training data do not: both sides of every condition of a kernel.

conditions         a kernel's conditions, counted on an instrumented original
condition_sources  what a condition depends on: arguments, fields, variables, buffers
required_relations what has to hold at once for a side to be seen, along the way to it
solved_relations   a change under which that holds, read backwards
aimed_changes      changes of what a condition depends on
goal_search        the order in which changes are tried for the sides that are missing
edited_lines       where a variant differs: conditions there come first
accepted_changes   the changed inputs of a case that the original accepts
"""
