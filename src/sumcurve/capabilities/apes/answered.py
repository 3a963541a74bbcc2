"""What a score folder of APES holds of every item beside its values, for tables that read it."""

# Columns of items.csv, with a reader's seed behind: how many questions it answers, and with which entities, by number.
RIGHT, ANSWERS = "right_", "answers_"
NOBODY = "-"
QUESTIONS = "questions"  # the column with how many there are
OVERLAP = "overlap"  # the column with how many word overlap answers, where guessers are asked
