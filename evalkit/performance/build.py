"""Why: `evalkit.performance.build` is where solutions are built for those who grade; the work is both wings' own."""

from evalkit.building.build import BuildLimits, BuildResult, build_solution, solution_digest, solution_files

__all__ = ["BuildLimits", "BuildResult", "build_solution", "solution_digest", "solution_files"]
