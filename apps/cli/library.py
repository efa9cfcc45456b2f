"""`biasscope library`: look at a run's biases and decide about them."""

import typer

from . import freezing
from . import library_decisions as decisions
from . import library_views as views

app = typer.Typer(help="The biases of a run: look, decide, take in and out.", no_args_is_help=True)
app.command("list")(views.list_biases)
app.command("show")(views.show)
app.command("history")(views.history)
app.command("diff")(views.diff)
app.command("export")(views.export)
app.command("import")(decisions.import_)
app.command("merge")(decisions.merge)
app.command("split")(decisions.split)
app.command("retire")(decisions.retire)
app.command("rename")(decisions.rename)
app.command("undo")(decisions.undo)
app.command("freeze")(freezing.freeze_run)
