"""What the tabs share: palette, theme, stylesheet, fonts, charts in SVG, provenance lines."""
