"""Headers, host names, logins, roles, forms and addresses: what the app refuses."""

import http.client
import json
import re
import stat

import httpx
import pytest
from biasscope.apps.web import people
from biasscope.apps.web.app import ROUTERS
from biasscope.apps.web.guard import POLICY, local_path
from biasscope.apps.web.rendering import assets
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.events import Stamp, add
from biasscope.core.errors import ConfigError
from biasscope.core.records import LibraryEvent
from playwright.sync_api import expect

BIAS = make_bias("Loud titles", "Headings in capitals are rewarded.", origin="discovered")
EVENT = add(Stamp("small", 0, "biasscope"), BIAS)
PLACES = {
    "run": "small",
    "bias": BIAS.id,
    "event": EVENT.id,
    "pair": "item000",
    "source": "prompt",
    "name": "app.css",
    "form": "svg",
}
OPEN = {"/login", "/static/{name}"}
"""What anybody may see; leaving needs a session's form, nothing more."""


@pytest.fixture
def folder(run_with, benchmark_with, tmp_path):
    run_with(tmp_path, "small", EVENT)
    benchmark_with(tmp_path)
    return tmp_path


@pytest.fixture
def client():
    with httpx.Client(follow_redirects=False, timeout=30) as made:
        yield made


def enter(client, url, token):
    html = client.get(f"{url}/login").text
    csrf = re.search(r'name="csrf" value="([^"]+)"', html)[1]
    answer = client.post(f"{url}/login", data={"csrf": csrf, "token": token, "next": "/"})
    assert answer.status_code == 303
    page = client.get(f"{url}/annotate", follow_redirects=True).text
    return re.search(r'name="csrf" value="([^"]+)"', page)[1]


def routes():
    """Every address of the app with a method, filled in."""
    yield "GET", "/static/{name}", "/static/app.css"
    for route in (route for router in ROUTERS for route in router.routes):
        for method in route.methods:
            yield method, route.path, re.sub(r"\{(\w+)\}", lambda m: PLACES[m[1]], route.path)


def test_every_answer_has_the_headers(serve, folder, client):
    app = serve(folder)
    for method, _, path in routes():
        answer = client.request(method, app.url + path, follow_redirects=False)
        assert answer.headers["x-content-type-options"] == "nosniff", path
        policy = answer.headers["content-security-policy"]
        assert policy == POLICY or "sandbox" in policy, path
        assert "unsafe-eval" not in policy and "*" not in policy
        assert "server" not in answer.headers
    assert client.get(app.url + "/no/such/page").headers["content-security-policy"] == POLICY


def test_only_the_loopbacks_names_are_answered(serve, folder, client):
    app = serve(folder)
    port = app.url.rsplit(":", 1)[1]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", ""):
        assert client.get(app.url, headers={"host": host}).status_code in (400, 421)
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", f"LOCALHOST:{port}"):
        assert client.get(app.url, headers={"host": host}).status_code == 200


def test_with_reviewers_everything_but_the_login_is_closed(serve, folder, client):
    people.add(folder / people.FILE, "Ada", "admin")
    app = serve(folder)
    assert len(list(routes())) > 25
    for method, pattern, path in routes():
        if pattern in OPEN:
            continue
        answer = client.request(method, app.url + path)
        assert answer.status_code in (303, 403), (method, path)
        if answer.status_code == 303:
            assert answer.headers["location"].startswith("/login"), (method, path)
        assert "Loud titles" not in answer.text


def test_without_a_loopback_nobody_is_let_in_without_a_login(serve, folder, client):
    app = serve(folder, alone=None, hosts=None)
    answer = client.get(app.url + "/runs/small")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/runs/small")


@pytest.mark.parametrize(
    ("role", "sees", "annotates", "decides"),
    [("viewer", True, False, False), ("annotator", False, True, False), ("admin", True, True, True)],
)
def test_roles(serve, folder, client, role, sees, annotates, decides):
    app = serve(folder)
    csrf = enter(client, app.url, people.add(folder / people.FILE, "Ada", role))
    may = {True: {200, 303, 307, 404, 409}, False: {403}}
    for path in ("/", "/runs/small", f"/runs/small/biases/{BIAS.id}", "/runs/small/export/library.json", "/diff"):
        assert client.get(app.url + path).status_code in may[sees], path
    for path in ("/annotate", "/runs/bench/annotate", "/runs/bench/annotate/mine"):
        assert client.get(app.url + path).status_code in may[annotates], path
    form = {"csrf": csrf, "kind": "approve", "reason": "x"}
    for path in (f"/runs/small/biases/{BIAS.id}/decide", f"/runs/small/events/{EVENT.id}/undo", "/runs/small/approval"):
        assert client.post(app.url + path, data=form).status_code in may[decides], path
    label = {"csrf": csrf, "item": "item000", "round": "independent", "label": "same"}
    assert client.post(app.url + "/runs/bench/annotate", data=label).status_code in may[annotates]


def test_no_form_is_taken_without_its_number_or_from_another_site(serve, folder, client):
    app = serve(folder)
    csrf = re.search(r'name="csrf" value="([^"]+)"', client.get(app.url + f"/runs/small/biases/{BIAS.id}").text)[1]
    posts = [path for method, _, path in routes() if method == "POST"]
    assert len(posts) >= 6
    foreign = [
        ({}, {}),
        ({"csrf": "0" * 32}, {}),
        ({"csrf": csrf}, {"origin": "https://evil.example"}),
        ({"csrf": csrf}, {"origin": "null"}),
        ({"csrf": csrf}, {"sec-fetch-site": "cross-site"}),
        ({"csrf": csrf}, {"sec-fetch-site": "same-site"}),
    ]
    for path in posts:
        for fields, headers in foreign:
            answer = client.post(app.url + path, data={"reason": "x", "kind": "approve", **fields}, headers=headers)
            assert answer.status_code == 403, (path, fields, headers)
    with app.store("small") as store:
        assert store.count(LibraryEvent, run_id="small") == 1
    with httpx.Client() as other:  # the number of one session is of no use in another
        other.get(app.url)
        assert other.post(app.url + posts[0], data={"csrf": csrf, "reason": "x"}).status_code == 403


def raw_get(url, path):
    """A request whose path no client has tidied up."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()


def test_no_address_reaches_the_disk(serve, folder, client):
    (folder / "secret.txt").write_text("secret")
    app = serve(folder)
    up = [
        "..",
        "%2e%2e",
        "..%2f..%2fsecret.txt",
        "%2e%2e%2fsecret.txt",
        "..%5csecret.txt",
        "%00",
        "small%2f..%2f..",
        "/etc/passwd",
    ]
    for part in up:
        for path in (f"/static/{part}", f"/runs/{part}", f"/runs/small/export/{part}", f"/runs/small/biases/{part}"):
            status, text = raw_get(app.url, path)
            assert status in (307, 404, 409), path
            assert "secret" not in text.replace("secret.txt", ""), path
    assert client.get(app.url + "/static/app.py").status_code == 404


def test_a_session_ends_with_its_token_its_role_or_its_reviewer(serve, folder, client):
    app, file = serve(folder), folder / people.FILE
    people.add(file, "Eve", "admin")
    for change in (
        lambda: people.add(file, "Ada", "admin"),
        lambda: people.add(file, "Ada", "viewer"),
        lambda: people.remove(file, "Ada"),
    ):
        client.cookies.clear()
        enter(client, app.url, people.add(file, "Ada", "admin"))
        assert client.get(app.url + "/runs/small").status_code == 200
        change()
        assert client.get(app.url + "/runs/small").status_code == 303


def test_a_wrong_token_and_a_forged_cookie_are_nobody(serve, folder, client):
    people.add(folder / people.FILE, "Ada", "admin")
    app = serve(folder)
    html = client.get(app.url + "/login").text
    csrf = re.search(r'name="csrf" value="([^"]+)"', html)[1]
    for token in ("", "wrong", json.loads((folder / people.FILE).read_text())[0]["token_sha256"]):
        answer = client.post(app.url + "/login", data={"csrf": csrf, "token": token})
        assert answer.status_code == 403
    client.cookies.clear()
    forged = {"biasscope": "eyJuYW1lIjogIkFkYSJ9.aaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbb"}
    client.cookies.update(forged)
    assert client.get(app.url + "/runs/small").status_code == 303


def test_cookies_are_for_our_pages_only(serve, folder, client):
    cookie = client.get(serve(folder).url).headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie


def test_a_form_of_any_size_or_shape_is_refused_in_one_line(serve, folder, client):
    app = serve(folder)
    big = client.post(app.url + "/login", content=b"csrf=" + b"a" * 400_000)
    assert big.status_code == 413
    many = client.post(app.url + "/login", content="&".join(f"a{k}=1" for k in range(1000)))
    assert (many.status_code, "at most" in many.text) == (403, True)
    assert client.post(app.url + "/login", content=b"\xff\xfe\x00=%ff%00").status_code == 403


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ("/runs/a?b=c", "/runs/a?b=c"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\\b", "/"),
        ("", "/"),
        ("\\\\evil", "/"),
    ],
)
def test_a_login_leads_to_pages_of_the_app_only(given, where):
    assert local_path(given) == where


def test_the_file_of_reviewers_holds_no_token_and_is_for_its_owner(tmp_path):
    file = tmp_path / people.FILE
    token = people.add(file, "Ada", "viewer")
    assert token not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert people.by_token(people.load(file), f" {token}\n").name == "Ada"
    newer = people.add(file, "Ada", "admin")
    assert people.by_token(people.load(file), token) is None
    assert people.by_token(people.load(file), newer).role == "admin"


@pytest.mark.parametrize("name", ["", " \t", "x" * 61, "biasscope", "BiasScope", "\u202e"])
def test_names_that_cannot_be(tmp_path, name):
    with pytest.raises(ConfigError, match="cannot be a reviewer's name"):
        people.add(tmp_path / people.FILE, name, "viewer")


def test_two_spellings_of_one_name_and_a_role_that_is_none(tmp_path):
    people.add(tmp_path / people.FILE, "Ada", "viewer")
    with pytest.raises(ConfigError, match="would be taken for 'Ada'"):
        people.add(tmp_path / people.FILE, "ADA", "viewer")
    with pytest.raises(ConfigError, match="is none of viewer, annotator, admin"):
        people.add(tmp_path / people.FILE, "Bob", "owner")
    with pytest.raises(ConfigError, match="no reviewer 'Bob'"):
        people.remove(tmp_path / people.FILE, "Bob")


def test_a_broken_file_of_reviewers_closes_the_app_in_one_line(serve, folder, client):
    (folder / people.FILE).write_text("{not json")
    answer = client.get(serve(folder).url + "/runs/small")
    assert answer.status_code == 503
    assert "is no list of reviewers" in answer.text and len(answer.text.splitlines()) == 1


def test_nothing_is_fetched_from_anywhere_else(serve, folder, visit, settled):
    page = visit("about:blank")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    app = serve(folder)
    page.goto(f"{app.url}/runs/small/biases/{BIAS.id}")
    settled(page)
    expect(page.locator("h1")).to_contain_text("Loud titles")
    assert len(asked) > 4
    assert {url.split("/")[2] for url in asked} == {app.url.removeprefix("http://")}


def test_the_policy_stops_what_would_get_into_a_page(serve, folder, visit):
    """Were a text of a model ever written as markup, the browser would still run and load nothing of it."""
    page = visit(f"{serve(folder).url}/runs/small/biases/{BIAS.id}")
    visit.refusals.add("Content Security Policy")
    fetched = []
    page.on("requestfinished", lambda request: fetched.append(request.url))
    blocked = page.evaluate(
        """() => new Promise(done => {
            const blocked = [];
            document.addEventListener('securitypolicyviolation', event => {
                blocked.push(event.effectiveDirective);
                if (blocked.length === 5) done(blocked.sort());
            });
            const add = (name, fields) => document.body.append(Object.assign(document.createElement(name), fields));
            add('script', {textContent: 'window.hit = 1'});
            add('script', {src: 'https://evil.example/x.js'});
            add('img', {src: 'https://evil.example/x.png'});
            add('iframe', {src: 'https://evil.example/'});
            const box = document.createElement('div');
            box.innerHTML = '<a onclick="window.hit = 1">x</a>';
            box.firstChild.click();
        })"""
    )
    assert blocked == ["frame-src", "img-src", "script-src-attr", "script-src-elem", "script-src-elem"]
    assert page.evaluate("window.hit") is None
    assert [url for url in fetched if "evil.example" in url] == []


def test_login_in_a_browser_and_out_again(serve, folder, visit):
    token = people.add(folder / people.FILE, "Ada", "viewer")
    app = serve(folder)
    page = visit(f"{app.url}/runs/small/biases/{BIAS.id}")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.get_by_label("Your token").fill(token)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Loud titles")
    expect(page.locator(".me")).to_contain_text("Ada")
    expect(page.get_by_role("heading", name="Decide")).to_have_count(0)
    page.get_by_role("button", name="Log out").click()
    page.goto(f"{app.url}/runs/small")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_our_files_come_with_their_licence():
    assert b"Zero-Clause BSD" in assets()["HTMX-LICENSE.txt"][0]
    assert b"4.0.1" in assets()["htmx.min.js"][0]
