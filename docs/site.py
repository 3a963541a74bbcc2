"""Stage what the site shows, README.md and all that is linked from there, in the folder that mkdocs.yml names.

Pages link to code, tables and settings beside docs/, which a site of docs/ alone would not have.
"""

import re
import shutil
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.M | re.S)


def linked(page: Path) -> list[Path]:
    """The files that a page links to, without those elsewhere on the web."""
    targets = [target.partition("#")[0] for target in LINK.findall(CODE.sub("", page.read_text()))]
    return [(page.parent / target).resolve() for target in targets if target and "://" not in target]


def main() -> None:
    """Copy README.md, what it leads to, and the site's scripts; a link that leads nowhere ends it with status 1."""
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    folder = ROOT / settings["docs_dir"]
    shutil.rmtree(folder, ignore_errors=True)
    scripts = [ROOT / script for script in settings["extra"]["polyfills"]]
    waiting, staged, dead = [ROOT / "README.md", *scripts], set(), []
    while waiting:
        page = waiting.pop()
        if page in staged:
            continue
        staged.add(page)
        copy = folder / page.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, copy)
        for target in linked(page) if page.suffix == ".md" else []:
            if target.is_file() and target.is_relative_to(ROOT):
                waiting.append(target)
            else:
                dead.append(f"{page.relative_to(ROOT)} links to {target}, which is no file here")
    if dead:
        sys.exit("\n".join(dead))


if __name__ == "__main__":
    main()
