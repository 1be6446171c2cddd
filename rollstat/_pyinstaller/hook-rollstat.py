"""Modules that are imported when they are used, the stubs that say which, and precompiled kernels."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

hiddenimports = collect_submodules("rollstat", filter=lambda name: not name.startswith("rollstat.spark"))
datas = collect_data_files("rollstat", includes=["**/*.pyi", "*.pyi", "_prebuilt/*"])
