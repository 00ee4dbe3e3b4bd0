"""The lines that SFT teaches a buyer; `sauda.language.speech` words moves for people."""
