"""Other inputs made from those there are: the same launches on changed memory, with other numbers, in other shapes.

    'in' negated     n: 1024 -> 1023     grid: 4x1x1 -> 4x2x1     block: 64x1x1 -> 32x2x1     'scale' = 0

Nothing says that the program ever sees such inputs. A case counts only if the original accepts it, which is for others
to find out; here they are made, the same ones from the same seed.

buffer_values   what is done to a buffer        launch_shapes   other grids, blocks and sizes of shared memory
case_survey     what a case has                 change_order    all changes of a case, the most telling first
changed_case    a case with a change made to it             comparison_constants   what a kernel compares with
pointer_aliases    pointers that share memory
pointer_places     pointers that are null, point into a buffer, or stand in another order
refuting_changes   what refuted an obligation of a variant, made into an input
"""
