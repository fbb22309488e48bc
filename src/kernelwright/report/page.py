"""How our pages look: one style sheet, light and dark, phone and print."""

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; width: 100%; margin: .5em 0; } section { margin: 2.5em 0; }
td, th { text-align: left; padding: .25em .8em .25em 0; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr { break-inside: avoid; } figure { margin: 1em 0; break-inside: avoid; } figure svg { width: 100%; max-width: 40em; height: auto; }
figcaption, .note { color: #666; font-size: .9em; } .head { font-size: 1.3em; } h2 { margin-bottom: .2em; }
pre { overflow-x: auto; margin: 0; } table.code pre { white-space: pre-wrap; } tr.hit { background: #fff3d8; }
.mark { background: #4878a8; color: #fff; border-radius: .3em; padding: 0 .4em; font-size: .85em; white-space: nowrap; }
.passed { color: #3a8f4c; } .failed { color: #c04040; font-weight: bold; } .notrun { color: #888; }
@media (prefers-color-scheme: dark) {
  body { background: #181818; color: #ddd; } figcaption, .note { color: #999; } tr.hit { background: #3a3420; } }
@media print { body { max-width: none; margin: 0; } }
"""
