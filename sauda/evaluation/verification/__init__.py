"""Recomputes the data of artifacts whose kinds do not do it themselves yet."""
