"""Programs of a grammar compiled in the farm, run and judged: the back ends, the choice between them, the workers' set-up."""
