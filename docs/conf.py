"""Sphinx configuration. The reference is made from the registry, so it cannot fall behind."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import gallery_pages
import registry_pages

import rollstat

registry_pages.write(Path(__file__).parent)
gallery_pages.write(Path(__file__).parent)

project = "rollstat"
author = "the rollstat developers"
copyright = "2026, the rollstat developers"
release = version = rollstat.__version__

extensions = [
    "algorithm_drawings",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "reference_hooks",
    "window_drawings",
]
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_search_scorer = str(Path(__file__).parent / "_extensions" / "scorer.js")
html_css_files = ["rollstat.css"]
html_title = "rollstat"
html_favicon = "_static/logo.svg"
html_theme_options = {
    "logo": {
        "text": f"rollstat {version}",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}
html_show_sourcelink = False
exclude_patterns = ["_build", "news", "_extensions", "_templates", "performance/tables"]
nb_execution_mode = "force"  # the notebook runs in each build, and an error fails the build
nb_execution_timeout = 300  # seconds for each cell; a first import of matplotlib searches all fonts
nb_execution_raise_on_error = True
nb_output_stderr = "remove"  # the message of the first call that compiles
autosummary_generate = True
toc_object_entries_show_parents = "hide"  # long names of classes do not fit beside the page
templates_path = ["_templates"]
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
nitpicky = False
