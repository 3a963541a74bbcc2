"""Claims of the project's papers, checked against printed numbers: a module a paper, `PAPERS` by their names."""

PAPERS = ("cano-bojar-2020", "akhmetov-2022", "kumar-cheung-2019", "eyal-2019", "wei-2018")
