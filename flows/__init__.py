"""What happens to a URL: the dataflows, and the nouns they are made of."""
