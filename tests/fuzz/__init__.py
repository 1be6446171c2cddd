"""Random calls over all faces of the package against brute force: ``nox -s fuzz``.

``draws.py`` draws windows, values and layouts, and says by definition which rows a window holds;
``compare.py`` asks the oracles. Each other module is an area. ``__main__.py`` shares the time among them and
reports.
"""
