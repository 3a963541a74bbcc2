"""Per-item scores with a signature."""

METRICS = ("rouge1", "rouge2", "rougeLsum")
