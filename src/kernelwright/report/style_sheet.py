"""How our pages look: one style sheet, light and dark, phone and print."""

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
h1 { margin: 0 0 .5em; line-height: 1.2; } h2 { margin-bottom: .2em; } section { margin: 2.5em 0; }
dl.head { border: 1px solid #8886; border-radius: .5em; padding: .8em 1em; display: grid;
  grid-template-columns: max-content 1fr; gap: .4em 1.2em; }
dl.head dt { color: #666; } dl.head dd { margin: 0; }
table { border-collapse: collapse; width: 100%; margin: .5em 0; }
td, th { text-align: left; padding: .25em .8em .25em 0; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr, li { break-inside: avoid; } .scroll { overflow-x: auto; }
figure { margin: 1em 0; break-inside: avoid; } figure svg { width: 100%; max-width: 38em; height: auto; }
figcaption, .note { color: #666; font-size: .9em; } ol.edits li { margin: .6em 0; }
code, pre { font-size: .9em; overflow-wrap: anywhere; } pre { overflow-x: auto; margin: 0; white-space: pre-wrap; }
table.code { border: 1px solid #8884; } table.code td { padding: 0 .6em; } tr.hit { background: #fff3d8; }
.mark { background: #4878a8; color: #fff; border-radius: .3em; padding: 0 .4em; font-size: .85em; white-space: nowrap; }
details { margin: .8em 0; } summary { cursor: pointer; } pre.patch { white-space: pre; }
.added { color: #2a7f3c; } .gone { color: #b03030; }
.bar { background: #4878a8; height: .7em; min-width: 1px; }
.passed { color: #3a8f4c; } .failed { color: #c04040; font-weight: bold; } .notrun { color: #888; }
td.passed, td.failed, td.notrun { white-space: nowrap; }
@media (max-width: 36em) {
  dl.head { display: block; } dl.head dd { margin: 0 0 .6em; }
  td, th { padding-right: .4em; font-size: .9em; } .mark { white-space: normal; }
  table.stack td { display: block; padding: 0; } table.stack tr { display: block; margin: .8em 0; } }
@media (prefers-color-scheme: dark) {
  body { background: #181818; color: #ddd; } figcaption, .note, dl.head dt { color: #999; } tr.hit { background: #3a3420; }
  .added { color: #6fbf7f; } .gone { color: #e08080; } }
@media print { body { max-width: none; margin: 0; } details { display: none; } }
"""
