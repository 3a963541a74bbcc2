# %% [markdown]
# # sumcurve in Python
#
# A notebook in percent format: Jupyter (with jupytext), VS Code and Spyder open it, from the root of a clone. Results
# print as tables, and have `to_pandas()`.

# %%
import numpy as np
import pandas as pd

import sumcurve as sc

# %% [markdown]
# ## Score summaries
#
# ROUGE of one system, with 95 % intervals over items, and of a second one on the same (invented) items.

# %%
texts = """
The court rejects the appeal. | The court rejects it. | A court decides.
Rain is expected in the north. | Rain is expected. | It rains in the north.
The bank cuts its rate. | The bank cuts rates. | The bank cuts its rate again.
A ferry runs aground near the port. | A ferry runs aground. | A ship is stuck.
The museum opens a new wing in May. | The museum opens a wing. | New rooms for paintings.
Farmers ask for help after the drought. | Farmers ask for help. | The drought is over.
Two hikers are found alive. | Two hikers are found. | Hikers were lost in the hills.
The mayor resigns over a contract. | The mayor resigns. | A contract is signed by the mayor.
Trains are late because of snow. | Trains are late. | Snow falls on the city.
A school wins the prize for reading. | A school wins a prize. | Pupils read more books.
The union calls off the strike. | The strike is called off. | The union meets today.
Scientists find a new kind of frog. | A new frog is found. | Scientists find a frog in the forest.
"""
references, ours, theirs = zip(*(line.split(" | ") for line in texts.strip().splitlines()), strict=True)
scores = sc.rouge(ours, references, compare=theirs, stem=True)
scores

# %%
scores.to_pandas("differences")

# %% [markdown]
# ## Compare systems on the same items
#
# Any metric, any number of systems: here invented answers of three models to 200 questions about 40 documents. A
# document's questions are drawn together.

# %%
draw = np.random.default_rng(1)
easy = draw.normal(size=200)
items = pd.DataFrame({"item": range(200), "document": np.arange(200) // 5})
for model, skill in (("large", 0.7), ("base", 0.4), ("small", 0.0)):
    items[model] = (easy + skill + draw.normal(size=200) > 0).astype(int)
answers = sc.compare(items, group="document", metric=["large", "base", "small"])
answers

# %% [markdown]
# ## Plan: how many items and seeds?

# %%
sc.power(sd_items=18, sd_seed=0.8, effect=2.2)

# %% [markdown]
# ## Is more data worth it?
#
# A recorded study's scores by seed, as anybody's table of sizes and scores would be.

# %%
study = sc.load("results/tables/docstrings")
seeds = study.seeds.query("part == 'study' and search == 'common'")
curve = sc.curve(seeds[["method", "records", "seed", "rouge1"]].dropna(), reach=[27])
curve

# %%
curve.plot()

# %% [markdown]
# ## A study's tables

# %%
study.findings

# %%
study.scores.query("metric == 'rouge1' and records == 6339")[["method", "records", "mean", "low", "high"]]

# %%
study.comparisons.query("metric == 'ROUGE-1'").head()

# %%
study.plot("rouge1")

# %% [markdown]
# ## Efficiency, and the best extracts

# %%
sc.efficiency("cano-bojar-2020").to_pandas().head()

# %%
sc.oracle([("The court met on Monday. It rejects the appeal. Nobody spoke.", "The court rejects the appeal.")])
