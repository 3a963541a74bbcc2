"""The capability `trials`: studies that choose settings on validation records, the same budget for every method."""

from collections.abc import Mapping

from sumcurve.capabilities.capability import Capability, Verbs
from sumcurve.capabilities.trials import command
from sumcurve.capabilities.trials.grid import Trials, asked_for
from sumcurve.capabilities.trials.settings import StudyKeys
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.config import Block, PlanError, read_study
from sumcurve.settings.forms import Form
from sumcurve.settings.study import StudySettings


class TrialsOfSettings(Capability):
    study_settings = StudyKeys

    def add_parsers(self, verbs: Verbs) -> None:
        command.add_parser(verbs)

    def check(self, block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
        """Raise PlanError for a size that no corpus can have, too few seeds, and a method tried in another grid."""
        if not isinstance(settings, StudyKeys) or settings.grid is None:
            return
        grid = settings.grid
        percents = False
        for name in grid.sizes:
            if name not in settings.corpora:
                raise PlanError(
                    f"{block.where('grid', 'sizes', name)}: no corpus {name!r} of the study; there are: "
                    f"{', '.join(settings.corpora)}"
                )
            percents |= settings.corpora[name].percents is not None
        programs = [name for name, system in settings.systems.items() if (system or {}).get("trials")]
        known = dict.fromkeys((*settings.methods, *grid.studies, *grid.tuned_with.values(), *programs))
        if strange := [name for name in grid.method_sizes if name not in known]:
            raise PlanError(
                f"{block.where('grid', 'method_sizes', strange[0])}: {strange[0]} is no method or program of the study "
                f"with trials; there are: {', '.join(known)}"
            )
        files = {path.stem for path in (block.path.parents[1] / "methods").glob("*.yaml")}
        if strange := sorted({*grid.tuned_with} - files):
            where = block.where("grid", "tuned_with", strange[0])
            raise PlanError(f"{where}: no method {strange[0]!r}; there are: {', '.join(sorted(files))}")
        largest = max([*grid.sizes.values(), *grid.method_sizes.values()])
        if percents and largest > 100:
            raise PlanError(f"{block.where('grid')}: {largest}: sizes are percents, as the corpora's: at most 100")
        if percents and len(settings.seeds) < 2:
            where = block.where("seeds")
            raise PlanError(f"{where}: {settings.seeds}: trials at percents have two seeds or more; add one")
        for method, study in grid.studies.items():
            if "grid" in read_study(block.path.with_name(f"{study}.yaml")).mapping:
                where = block.where("grid", "studies", method)
                raise PlanError(f"{where}: study {study} has a grid itself; name one that trains the method")

    def plan_study(self, plan: PlannedStudy) -> None:
        """Reduce a study with a grid to the trainings missing from its table and their inputs."""
        if isinstance(plan.settings, StudyKeys) and plan.settings.grid is not None:
            plan.folders = asked_for(Trials(plan))
            plan.rows.clear()
            plan.together.clear()


CAPABILITY = TrialsOfSettings()
