"""Changes of the corpus for a Kafka topic: what differs from what the topic was told before."""
