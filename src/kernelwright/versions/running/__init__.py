"""One run of a program of several versions: started, heard, timed, its output compared."""
