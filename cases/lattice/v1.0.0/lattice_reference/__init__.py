"""The reference implementation behind `oracle.py`: tables, scenario, world, state."""
