"""Files that are changed at random: what every reader does with them."""
