"""Changed inputs that reach what the training data do not: both sides of every condition of a kernel.

conditions        a kernel's conditions, counted on an instrumented original
condition_sources what a condition depends on: arguments, fields, variables, buffers
aimed_changes     changes of what a condition depends on
edited_lines      where a variant differs: conditions there come first
accepted_changes  the changed inputs of a case that the original accepts
"""
