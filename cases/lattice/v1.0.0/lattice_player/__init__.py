"""The drawing behind `player.py`: where things lie (`layout`) and which item is which from tick to tick (`motion`)."""
