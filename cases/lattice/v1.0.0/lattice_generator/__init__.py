"""What `generate.py` writes: a plan to draw on, the smoke inputs, the factories of the stress and training inputs."""
