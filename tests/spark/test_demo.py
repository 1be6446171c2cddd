"""The demonstration: its results and its picture."""

import numpy as np
import pytest

pytestmark = pytest.mark.spark


@pytest.fixture
def utc(spark):
    """Return Spark with the zone in which the demonstration runs."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", zone)


def test_the_wind_is_cleaned_three_ways_and_drawn(spark, tmp_path, capsys):
    from rollstat import demo

    weather = demo.clean_wind(spark)
    text = capsys.readouterr().out
    assert "are equal, all 78,345 of them" in text
    assert "2013-02-12 08:00 1048.4" in text
    assert weather["outlier"].sum() == 13
    assert weather["wind_speed"][~weather["outlier"]].max() < 43
    assert np.isfinite(weather["median"]).all()
    picture = demo.draw(weather, tmp_path / "new")
    assert picture.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("part", "flights"), [(15, "22,452"), pytest.param(1, "336,776", marks=pytest.mark.long)]
)
def test_delays_are_ranked_four_ways(utc, capsys, monkeypatch, part, flights):
    from rollstat import demo

    read = demo.read
    monkeypatch.setattr(demo, "read", lambda *given: read(*given).iloc[::part])
    demo.rank_delays(utc)
    text = capsys.readouterr().out
    assert f"are equal, all {flights} of them" in text
    for run in ("first run", "second run"):
        assert text.index(f"pandas in applyInPandas, {run}") < text.index(f"rollstat, {run}")


def test_features_are_built_three_ways_and_in_a_stream(utc, capsys, monkeypatch):
    from rollstat import demo

    read = demo.read
    monkeypatch.setattr(demo, "read", lambda *given: read(*given).iloc[::60].reset_index(drop=True))
    demo.build_features(utc)
    text = capsys.readouterr().out
    assert "features by pandas, rollstat and Spark are equal, all 101,034 of them" in text
    assert "features at midnight are equal, all 49,140 of them" in text
    assert "features of the stream are equal, all 135 of them" in text


def test_results_that_differ_stop_the_demonstration(capsys):
    from rollstat import demo

    demo.require_equal("medians", [1.0, np.nan], [1.0, np.nan])
    with pytest.raises(SystemExit, match="medians differ"):
        demo.require_equal("medians", [1.0], [1.0 + 2**-52])
