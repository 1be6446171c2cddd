"""Drivers: each runs one kernel family over one :class:`rollstat.blocks.Block`."""
