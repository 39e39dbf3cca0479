"""Why: the wing of the cases: what a case is, how its solutions are built and graded, and where they stand.

Import from the modules: `manifest` reads and checks a case, `rank` places runs, `reviews` reads recorded reviews.
"""
