"""`biasscope judge`: what a judge is worth."""

import typer

from . import judge_profile

app = typer.Typer(no_args_is_help=True, help="Measure judges.")
app.command("profile")(judge_profile.profile_judge)
