"""Extract sentences, then rewrite each (Chen and Bansal 2018): the method FASTRL."""
