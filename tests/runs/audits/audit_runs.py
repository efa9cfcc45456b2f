"""What audits over real HTTP share in tests."""

import json
import re
import sys

from biasscope.simulation.scripted import Reply

COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")
_FENCED = re.compile(r"<([a-z_0-9]+)-[0-9a-f]{8}>\n(.*?)\n</\1-[0-9a-f]{8}>", re.DOTALL)


def fenced(body):
    """The fenced fields of a request's last message."""
    return dict(_FENCED.findall(body["messages"][-1]["content"]))


def model(url, name="world", **more):
    return {"model": f"openai:{name}", "base_url": url, **more}


def as_json(**values):
    return Reply(text=json.dumps(values))
