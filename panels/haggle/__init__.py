"""Haggle: a visitor bargains with Sauda or a script. Also the model of how a tab is built.

`tab.py` wires the components of `screen.py` to the callbacks, which take a `Visit`, the value that
one `gr.State` holds, and return new values by component. The HTML stands in
`panels/templates/haggle.html`, the words in three languages in `words.csv`. The other sub-tabs
stand in `panels/haggle/challenges/`.
"""
