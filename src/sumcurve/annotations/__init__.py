"""What is known of a corpus without any model under study."""
