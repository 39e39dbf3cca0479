"""Why: both wings turn source into a module by a `[build]` table: solutions of a case, and the game of a season."""
