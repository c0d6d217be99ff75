"""Checks docs/openapi.yaml against the specification of OpenAPI."""

import pathlib

from openapi_spec_validator import validate
from openapi_spec_validator.readers import read_from_filename

file = pathlib.Path(__file__).absolute().parents[2] / "docs" / "openapi.yaml"
document, address = read_from_filename(str(file))
validate(document, base_uri=address)
print(len(document["paths"]), "paths")
