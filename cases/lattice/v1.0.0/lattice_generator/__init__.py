"""What `generate.py` writes: the plan to draw on, the smoke inputs, and the factories of the stress and training inputs."""
