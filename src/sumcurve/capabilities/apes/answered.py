"""Columns of a score folder of APES beside its values, which tables read."""

# Columns of items.csv, followed by a reader's seed: the number of right answers, and its answers as entity numbers.
RIGHT, ANSWERS = "right_", "answers_"
NOBODY = "-"
QUESTIONS = "questions"  # the column with how many there are
OVERLAP = "overlap"  # the column with the right answers of word overlap, where guessers answer
