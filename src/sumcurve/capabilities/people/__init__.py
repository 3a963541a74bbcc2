"""People as judges: sheets go out blind, filled ones come back, answers become agreement, results and a scorer."""
