"""Removes code from a message (tags, templates, calls, queries, addresses): it holds no prices."""

import re

_CODE = re.compile(
    r"""
    \A\s*<([a-z]\w*)[^<>]*>.*</\1\s*>\s*\Z                     # a message that is one element
  | <(script|style)\b[^<>]*>.*?(?:</\2\s*>|\Z)
  | </?[a-z!][^<>]*>                                           # a tag; its text stays
  | &lt;.{0,200}?&gt; | &\#?\w+;                                     # the same, escaped
  | <%.{0,200}?%> | \$?\{[^{}]*\}                                    # a template
  | (?:https?://|www\.)\S+ | (?<!\S)[\w.+-]{1,64}@\w+\.\w\S*                    # an address
  | (?<![\w.])(?!rs\b|inr\b)[a-z_][\w.]{0,40}\([^()]{0,200}\)                # a call: alert(1)
  | (?<![\w.])\d{1,9}(?:\s?==?\s?|\*+)\d{1,9}(?!\w)                    # 1=1, 7*7
  | \bselect\s+[\w*,.\s]{1,60}?\sfrom\s+\w+\s*(?:;|where\b|limit\b|order\b|\Z)[^\n;]*
  | (?<!\w)(?!rs\b)[a-z_]{1,2}\s?=\s?["']?\d+                 # x = 1
  | (?:(?<!\d)\d{1,9}\s?['"]?;\s?)?                                     # 1; drop table offers
    \b(?:insert\s+into|delete\s+from|drop\s+table|union\s+select|update\s+\w+\s+set)\b[^\n;]*
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE | re.ASCII,
)
_DEEPEST = 3  # levels of braces in braces


def without_code(text: str) -> str:
    """`text` with spaces in place of its code, so that every other character keeps its position."""
    for _ in range(_DEEPEST):
        text = _CODE.sub(lambda match: " " * len(match.group()), text)
    return text
