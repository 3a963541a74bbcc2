"""The configuration's schema, a module for each block: every key a study or a method file may hold, with its unit.

Unknown keys are errors. Imports nothing heavy, because the Snakefile reads it on every parse. A capability has settings
of its own.
"""
