# A local rule: nodes that compute may have no network.
rule fetch_archives:
    input:
        f"{CHECKOUT}config/harvest/{{list}}.csv",
    output:
        str(Path(HOME) / "data/raw/archives/{list}.csv"),
    log:
        f"{LOGS}/fetch-{{list}}.log",
    shell:
        "python -m sumcurve fetch {output:q} --log {log:q}"


rule harvest:
    input:
        fetched,
    output:
        update(str(Path(HOME) / "data/raw/harvest-{name}.jsonl")),
    log:
        f"{LOGS}/harvest-{{name}}.log",
    threads: 2
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve harvest {output:q} --log {log:q}"


# With network, where Snakemake runs: nothing that computes fetches anything.
rule fetch_model:
    output:
        directory(str(Path(HOME) / "data/raw/model-{name}")),
    log:
        f"{LOGS}/fetch-{{name}}.log",
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve fetch {output:q} --log {log:q}"


# As above, of Debian's packages: with apt, too.
rule fetch_lists:
    output:
        directory(str(Path(HOME) / "data/raw/lists-{name}")),
    log:
        f"{LOGS}/fetch-lists-{{name}}.log",
    shell:
        "python -m sumcurve fetch {output:q} --log {log:q}"


# As above, of a folder in a git repository: with git, too, unless a copy lies beside it.
rule fetch_repository:
    output:
        directory(str(Path(HOME) / "data/raw/git-{name}")),
    log:
        f"{LOGS}/fetch-git-{{name}}.log",
    shell:
        "python -m sumcurve fetch {output:q} --log {log:q}"


# As above, of a corpus: what is there stays, and what was fetched of it is not fetched again.
rule fetch_corpus:
    output:
        directory(str(Path(HOME) / "data/raw/hub-{name}")),
    log:
        f"{LOGS}/fetch-hub-{{name}}.log",
    resources:
        mem_mb=1000,
    shell:
        "python -m sumcurve fetch {output:q} --log {log:q}"


# A corpus with `shards`: its content is cut once, each shard is read by a job, and the rule `corpus` puts together what
# they leave. Where near-duplicates are dropped, as many jobs find pairs of these before. On any number of cores or nodes;
# a job that is finished is never made again.
rule cut_corpus:
    input:
        raw_files,
    output:
        update(f"{SHARDS}/{{name}}-of-{{shards}}/plan.json"),
    log:
        f"{LOGS}/shards/{{name}}-of-{{shards}}/plan.log",
    wildcard_constraints:
        shards=r"\d+",
    resources:
        mem_mb=1000,
    params:
        study=STUDY,
    shell:
        "python -m sumcurve shard --study {params.study} {output:q} --log {log:q}"


rule map_shard:
    input:
        rules.cut_corpus.output,
    output:
        update(f"{SHARDS}/{{name}}-of-{{shards}}/map-{{number}}.json"),
    log:
        f"{LOGS}/shards/{{name}}-of-{{shards}}/map-{{number}}.log",
    wildcard_constraints:
        shards=r"\d+",
        number=r"\d{5}",
    resources:
        mem_mb=1000,
    params:
        study=STUDY,
    shell:
        "python -m sumcurve shard --study {params.study} {output:q} --log {log:q}"


rule near_shard:
    input:
        mapped,
    output:
        update(f"{SHARDS}/{{name}}-of-{{shards}}/near-{{number}}.json"),
    log:
        f"{LOGS}/shards/{{name}}-of-{{shards}}/near-{{number}}.log",
    wildcard_constraints:
        shards=r"\d+",
        number=r"\d{5}",
    resources:
        mem_mb=1000,
    params:
        study=STUDY,
    shell:
        "python -m sumcurve shard --study {params.study} {output:q} --log {log:q}"
