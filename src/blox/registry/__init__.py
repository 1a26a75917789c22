"""Names for parts: `@register.scheduling("las")`, and the specs that build parts from names.

`known_parts` says which parts there are, `part_fields` what can be set in one, `user_files` reads parts from
a user's own file, `specs` turns `name:key=value` into a part and back.
"""

from blox.registry.known_parts import PACKAGES, classes, find, lazy_package, names, register, survey
from blox.registry.part_fields import Parameter, check_choices, instantiate, parameters
from blox.registry.specs import build, kind_of, name_of, parse_options, spec_named, spec_of
from blox.registry.user_files import FileSpec, file_in, load_class, parameters_needed

__all__ = [
    "PACKAGES",
    "FileSpec",
    "Parameter",
    "build",
    "check_choices",
    "classes",
    "file_in",
    "find",
    "instantiate",
    "kind_of",
    "lazy_package",
    "load_class",
    "name_of",
    "names",
    "parameters",
    "parameters_needed",
    "parse_options",
    "register",
    "spec_named",
    "spec_of",
    "survey",
]
