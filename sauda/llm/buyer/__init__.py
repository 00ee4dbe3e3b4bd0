"""The lines that SFT teaches a buyer; `sauda.language.spoken` words moves for people."""
