"""Results as papers print them, beside a study's own."""
