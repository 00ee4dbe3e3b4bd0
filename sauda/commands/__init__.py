"""The command line: argument parsing and printing, one module a group of commands."""
