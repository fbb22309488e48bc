"""The timing model of the virtual GPU: what was counted while a kernel ran → how long a named GPU would take.

docs/timing-model.md derives it and says what it leaves out.
"""
