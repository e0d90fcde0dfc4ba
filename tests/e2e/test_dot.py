"""--dot: what Graphviz reads in it is the graph of the JSON, whatever the names are. Graphviz itself does the reading."""

import collections
import json
import re
import subprocess
import xml.etree.ElementTree

import harness
import pytest

pytestmark = pytest.mark.parametrize("gdb, build", harness.PAIRS)

# Of these every task has a name of its own.
NAMED = ("taskgroup", "diamond", "shield", "cycle", "stale_awaiter", "dot_names", "hostile")
HOSTILE = ("dot_names", "hostile", "secrets")


def graphviz(answer, form):
    """What Graphviz makes of it. Any warning is a failure."""
    assert answer.error is None, answer
    done = subprocess.run(["dot", f"-T{form}"], input=answer.text.encode(), capture_output=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, f"{done.stderr.decode(errors='replace')}{answer}"
    return done.stdout.decode()


def graph_of(answer):
    """Nodes (their attributes by their name) and edges."""
    document = json.loads(graphviz(answer, "dot_json"))
    nodes = {node["name"]: node for node in document.get("objects", [])}
    names = {node["_gvid"]: name for name, node in nodes.items()}
    edges = [(names[edge["tail"]], names[edge["head"]]) for edge in document.get("edges", [])]
    return nodes, edges


def shown(name):
    """A name as the text form shows it: what is not printable escaped as repr() does, quotes and backslashes as they are."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


def label_of(entry):
    """The begin of the label of a JSON document's task or future."""
    return shown(entry["name"]) if "name" in entry else f"future {entry['id']}"


def in_label(text):
    """A text as Graphviz keeps it in a label: its escapes and entities are undone only when it draws."""
    return text.replace("\\", "\\\\").replace("&", "&amp;")


def first_line(node):
    """The label up to the end of its first line; an escaped backslash may stand before an l too."""
    return re.match(r"(?:[^\\]|\\[^l])*", node["label"])[0]


@pytest.mark.parametrize("scenario", NAMED)
def test_ungrouped_nodes_and_edges_are_those_of_the_json(gdb, build, scenario):
    dot, document = harness.ask_core(
        gdb, build, scenario, "py-awaited-by --all --no-group --dot", "py-awaited-by --all --no-group --json"
    )
    nodes, edges = graph_of(dot)
    document = document.json()
    entries = {entry["id"]: entry for entry in document["tasks"]}
    waiting = [entry for entry in (*document["tasks"], *document["futures"]) if entry["awaited_by"]]
    # The JSON also lists futures that a single task has for itself: they are no nodes of the graph.
    drawn = set(map(first_line, nodes.values()))
    entries.update({entry["id"]: entry for entry in waiting if in_label(label_of(entry)) in drawn})
    labels = collections.Counter(in_label(label_of(entry)) for entry in entries.values())
    assert labels == collections.Counter(map(first_line, nodes.values())), dot
    expected = [
        (in_label(label_of(entries[awaiter["id"]])), in_label(label_of(entry)))
        for entry in entries.values()
        for awaiter in entry["awaited_by"]
    ]
    found = [tuple(first_line(nodes[name]) for name in edge) for edge in edges]
    assert collections.Counter(found) == collections.Counter(expected), dot
    assert len(entries) >= len(document["tasks"]) > 0


@pytest.mark.parametrize("scenario", HOSTILE)
@pytest.mark.parametrize("options", ["", "--no-group"])
def test_svg_shows_every_name_as_text(gdb, build, scenario, options):
    dot, document = harness.ask_core(gdb, build, scenario, f"py-async-bt --all {options} --dot", "py-async-bt --all --json")
    svg = xml.etree.ElementTree.fromstring(graphviz(dot, "svg"))
    space = "{http://www.w3.org/2000/svg}"
    harmless = ("svg", "g", "a", "title", "polygon", "polyline", "ellipse", "path", "text")
    assert {element.tag for element in svg.iter()} <= {space + tag for tag in harmless}
    texts = {element.text.replace("\xa0", " ") for element in svg.iter(f"{space}text") if element.text}
    tasks = document.json()["tasks"]
    assert tasks
    if options:
        missing = [task["name"] for task in tasks if task["name"] and shown(task["name"]) not in texts]
        assert not missing, (missing, texts)
    assert "hunter2secret" not in dot.text
    assert not any("forged" == text for text in texts)


def test_seventy_thousand_equal_tasks_are_one_node(gdb, build):
    """Grouped by default, drawn in no time."""
    (answer,) = harness.ask_core(gdb, build, "many", "py-awaited-by --dot")
    nodes, edges = graph_of(answer)
    (many,) = [node for node in nodes.values() if node["label"].startswith("70,000 tasks\\l")]
    assert len(nodes) <= 4 and "in sleeps (many.py:" in many["label"] and many["label"].endswith("waiting\\l"), answer
    assert len(answer.text) < 5000


def test_groups_say_how_many_of_them_wait(gdb, build):
    """A group of which only some members wait for another one."""
    (text, dot) = harness.ask_core(gdb, build, "deep_awaited_by", "py-awaited-by 0 --group", "py-awaited-by 0 --group --dot")
    nodes, edges = graph_of(dot)
    assert edges and "INCOMPLETE" not in dot.text
    parts = re.findall(r"^ *\* (\S+) of (\S+) tasks", text.text, re.M)
    assert parts and sorted(re.findall(r'\[label="(\S+) of (\S+)"\]', dot.text)) == sorted(parts), dot


def test_limit_and_depth_are_said(gdb, build):
    limited, deep, deeper, empty = harness.ask_core(
        gdb, build, "dot_names", "py-async-bt --no-group --limit 3 --dot", "py-async-bt --no-head --depth 1 Task-1 --dot",
        "py-async-bt --dot --no-group", "py-async-bt --dot --in nowhere.py",
    )  # fmt: skip
    nodes, _ = graph_of(limited)
    assert nodes["more"]["label"].startswith("… ") and nodes["more"]["label"].endswith(" more groups; --all shows them"), limited
    assert "more" not in graph_of(deeper)[0]
    assert list(graph_of(deep)[0]) == ["n" + re.search(r"^  n(\d+) \[", deep.text, re.M)[1]], deep
    assert not graph_of(empty)[0] and "--in nowhere.py leaves out" in empty.text, empty


def test_depth_ends_a_chain(gdb, build):
    (answer,) = harness.ask_core(gdb, build, "deep_awaited_by", "py-awaited-by 0 --no-group --depth 3 --dot")
    nodes, edges = graph_of(answer)
    dashed = [node for node in nodes.values() if node["label"].startswith("… ")]
    assert len(dashed) == 1 and dashed[0]["label"] == "… 1 group waits for it; --depth N shows more", answer
    assert len(nodes) - 1 == 4, answer
