"""Search of a tree of decisions whose leaves are candidates, behind ask and tell.

decision_tree  what a tree is asked            formulas   TAG, UCT, weights by bounds
explored       the part of it that is kept     descent    a random way down to a leaf
leaf_search    what all strategies share       neighbours, monte_carlo, best_first, plain_descents   the strategies
"""
