"""The commands, one file each: ``kw NAME`` is ``NAME.py``. The table that lists them is ``cli/app.py``."""
