"""Every JSON document of every scenario follows the schema, and refers to nothing that it does not define or list as unknown."""

import compare
import harness
import jsonschema
import pytest

pytestmark = [
    pytest.mark.parametrize("scenario", harness.SCENARIOS),
    pytest.mark.parametrize("build", harness.BUILDS),
    pytest.mark.parametrize("gdb", harness.GDBS),
]

SCHEMA = harness.PROJECT / "src/pyasync-1.schema.json"
# jsonschema takes a second for a thousand entries: of long lists of like entries the first and the last ones are looked at.
LOOKED_AT = 50


@pytest.fixture(scope="module")
def validator():
    schema = harness.json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def documents_of(scenario):
    return [name for name in harness.commands_of(scenario) if name.endswith(".json")]


def shortened(value):
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item) for item in (value if len(value) <= 2 * LOOKED_AT else [*value[:LOOKED_AT], *value[-LOOKED_AT:]])]
    return value


def test_documents_follow_the_schema(reading, scenario, validator):
    for name in documents_of(scenario):
        errors = [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(shortened(reading.json(name)))]
        assert not errors, "\n".join([*errors[:10], reading.repeat(name)])


def test_references_are_defined(reading, scenario):
    for name in documents_of(scenario):
        document = reading.json(name)
        if "tasks" in document:
            found = list(compare.dangling(document))
            assert not found, "\n".join([*found[:10], reading.repeat(name)])


def test_unknown_lists_only_what_is_referred_to_and_not_defined(reading):
    document = reading.json("bt.json")
    defined = {entry["id"] for key in ("tasks", "futures", "loops") for entry in document[key]}
    assert not defined & set(document["unknown"]), reading.repeat("bt.json")
