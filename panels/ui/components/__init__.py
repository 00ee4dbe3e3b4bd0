"""Components of the page that Gradio has not, each a subclass of `gr.HTML`, alone in its file.

`python -m panels.ui.components.NAME` shows one by itself.
"""
