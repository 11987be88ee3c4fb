"""Where the stream meets the world: sites, the Web, extraction processes, the dataset."""
