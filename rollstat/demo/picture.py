"""The picture of the demonstration: measured wind speeds, their rolling median, and the outliers."""

from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["draw"]

RAW, MEDIAN, OUTLIER, INK = "#b9c0c9", "#1f6fb2", "#d62728", "#30363d"
DAYS_AROUND = pd.Timedelta(days=16)


def _axes(figure: Any, airports: list[str]) -> tuple[Any, Any, list[Any]]:
    """Return the two axes of the close view, broken above ordinary wind speeds, and one for each airport."""
    margins = {"left": 0.06, "right": 0.98, "top": 0.95, "bottom": 0.04}
    heights = [2.9] + [1.0] * len(airports)
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights, hspace=0.36, **margins)
    broken = grid[0].subgridspec(2, 1, height_ratios=[0.16, 1.0], hspace=0.06)
    top = figure.add_subplot(broken[0])
    close = figure.add_subplot(broken[1], sharex=top)
    years = [figure.add_subplot(grid[1 + i]) for i in range(len(airports))]
    for axes in years[1:]:
        axes.sharex(years[0])
    for axes in (top, close, *years):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK, labelsize=9)
        axes.grid(axis="y", color="#eceff2", linewidth=0.8)
        axes.set_axisbelow(True)
    top.spines["bottom"].set_visible(False)
    top.tick_params(axis="x", length=0, labelbottom=False)
    break_mark = {"marker": [(-1, -0.6), (1, 0.6)], "markersize": 9, "linestyle": "none", "color": INK}
    top.plot([0], [0], transform=top.transAxes, clip_on=False, **break_mark)
    close.plot([0], [1], transform=close.transAxes, clip_on=False, **break_mark)
    return top, close, years


def _signal(axes: Any, rows: pd.DataFrame, width: float, clipped: bool) -> None:
    """Draw the measured values, the median, and the outliers."""
    axes.plot(rows["time_hour"], rows["wind_speed"], color=RAW, linewidth=width, label="measured, hourly")
    axes.plot(
        rows["time_hour"], rows["median"], color=MEDIAN, linewidth=1.5, label="rolling median of 49 hours"
    )
    outliers = rows[rows["outlier"]]
    axes.plot(
        outliers["time_hour"],
        outliers["wind_speed"],
        "o",
        color=OUTLIER,
        markersize=6,
        markeredgecolor="white",
        clip_on=clipped,
        label="outlier",
        zorder=3,
    )


def draw(weather: pd.DataFrame, found: pd.DataFrame, outlier: pd.Series, folder: Path) -> Path:
    """Draw the wind speeds, and return the path of the picture.

    Parameters
    ----------
    weather : DataFrame
        Columns ``origin``, ``time_hour`` and ``wind_speed``.
    found : DataFrame
        Column ``median`` on the same rows.
    outlier : Series of bool
        Which rows are outliers.
    folder : Path
        Where to put the picture; created if it does not exist.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.dates as dates
    from matplotlib.figure import Figure

    rows = weather.assign(median=found["median"], outlier=outlier)
    worst = rows.iloc[int((rows["wind_speed"] - rows["median"]).abs().argmax())]
    airports = sorted(rows["origin"].unique())
    figure = Figure(figsize=(11, 9.2))
    top, close, years = _axes(figure, airports)

    here = rows[rows["origin"] == worst["origin"]]
    here = here[(here["time_hour"] - worst["time_hour"]).abs() <= DAYS_AROUND]
    for axes in (top, close):
        _signal(axes, here, 1.1, clipped=True)
    ordinary = rows.loc[~rows["outlier"], "wind_speed"].max()
    top.set_ylim(worst["wind_speed"] - 30, worst["wind_speed"] + 30)
    top.set_yticks([round(float(worst["wind_speed"]))])
    close.set_ylim(0, ordinary * 1.08)
    close.set_xlim(here["time_hour"].min(), here["time_hour"].max())
    close.set_ylabel("mph", color=INK)
    close.xaxis.set_major_formatter(dates.DateFormatter("%d %b"))
    close.legend(loc="upper right", frameon=False, fontsize=9, ncols=3)
    top.annotate(
        f"{worst['wind_speed']:,.0f} mph at {worst['origin']}, {worst['time_hour']:%d %B %Y, %H:%M} UTC",
        (worst["time_hour"], worst["wind_speed"]),
        xytext=(12, 0),
        textcoords="offset points",
        annotation_clip=False,
        va="center",
        color=OUTLIER,
        fontsize=10,
    )
    top.set_title(
        "Hourly wind speeds, cleaned with a rolling order statistic", loc="left", color=INK, fontsize=13
    )

    for axes, airport in zip(years, airports):
        year = rows[rows["origin"] == airport]
        beyond = year["outlier"] & (year["wind_speed"] > ordinary * 1.2)
        _signal(axes, year.assign(outlier=year["outlier"] & ~beyond), 0.6, clipped=False)
        axes.set_ylim(0, ordinary * 1.2)
        axes.set_xlim(rows["time_hour"].min(), rows["time_hour"].max())
        axes.set_ylabel("mph", color=INK)
        times = year.loc[beyond, "time_hour"]
        axes.plot(times, [ordinary * 1.12] * len(times), "^", color=OUTLIER, markersize=8, clip_on=False)
        count = int(year["outlier"].sum())
        axes.set_title(
            f"{airport}: {count} outliers in {len(year):,} hours", loc="left", color=INK, fontsize=10, pad=3
        )
        axes.xaxis.set_major_locator(dates.MonthLocator())
        axes.xaxis.set_major_formatter(dates.DateFormatter("%b"))
        axes.tick_params(axis="x", labelbottom=airport == airports[-1])

    folder.mkdir(parents=True, exist_ok=True)
    path = (folder / "wind.png").resolve()
    figure.savefig(path, dpi=130)
    return path
