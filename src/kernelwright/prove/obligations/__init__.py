"""What a variant owes: every difference from its original gives an obligation that holds for all launches, or only in the tests.

owed            all of it, kernel by kernel; what of a variant can be proven, with which guards
obligation      what is owed, and how it is settled      variant_pair   original and variant, instruction by instruction
effects         what an instruction does to memory       construction   what holds by construction, under its guard
order           what is crossed by what was moved        differences    what is left, as questions to the solver
values          operands that are the same               bounds         loads that are made early
crossings       accesses that changed places             barriers       what two threads meet in
stores          stores that are gone                   memory_states  what a thread's loads find
private_arrays  shared arrays as variables of a thread
rounding        sums, and the products that are rounded with them
guard_search    the weakest guard under which something holds

world           what all threads share, as symbols       thread         one thread: values, and what is known at a place
arithmetic      what instructions compute                loops          invariants, guessed and sieved
solver          questions, with limits of time
"""
