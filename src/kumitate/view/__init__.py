"""Pictures of results: figures, snapshots, animations, the page."""
