import subprocess
import sys

from biasscope.apps.cli.main import COMMANDS, app
from typer.main import get_group
from typer.testing import CliRunner

HEAVY = ("sklearn", "matplotlib", "openai", "langgraph", "scipy", "sqlalchemy")


def test_help_names_every_command_and_imports_none():
    code = (
        "import sys\nfrom biasscope.apps.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    for name, entry in COMMANDS.items():
        assert any(line.split() == [name, *entry.help.split()] for line in lines), name
    assert lines[-1] == "[]"


def test_every_command_is_where_the_table_says():
    group = get_group(app)
    assert list(group.commands) == list(COMMANDS)
    for name, command in group.commands.items():
        assert command.name == name
        assert command.help
    assert "list" in group.commands["runs"].commands  # a group of one command stays a group


def test_a_mistyped_command_is_answered_with_the_nearest():
    done = CliRunner().invoke(app, ["discovr"])
    assert done.exit_code == 2
    assert "Did you mean 'discover'?" in done.output
