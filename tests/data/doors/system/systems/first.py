"""The system `first`: a shell command that prints the first sentence."""

from sumcurve.capabilities.programs.command import Command, CommandSettings

PRINT = "import json, sys; [print(json.loads(line)['source'][0]) for line in sys.stdin]"


class FirstSettings(CommandSettings):
    summarize: str = f'python -c "{PRINT}"'


class First(Command):
    Settings = FirstSettings
    title = "the first sentence, by a shell command"
