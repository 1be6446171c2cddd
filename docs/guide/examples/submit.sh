#!/bin/sh
# submit.sh READINGS RESULT: run spark_job.py on the cluster MASTER, with rollstat and its compiled kernels.
set -eu
job=$(dirname "$0")/spark_job.py
export PYSPARK_PYTHON="${PYSPARK_PYTHON:-python3}"
JAVA_HOME=$("$PYSPARK_PYTHON" -c "from rollstat.spark.java import find_java; print(find_java().home)")
export JAVA_HOME

# A copy of the package, with the kernels of the wheel if it has any.
mkdir -p shipped
cp -R "$("$PYSPARK_PYTHON" -c 'import os, rollstat; print(os.path.dirname(rollstat.__file__))')" shipped/
find shipped -name __pycache__ -prune -exec rm -r {} +

# The job itself, on a few rows and this machine: kernels that the wheel does not bring are stored in `kernels`.
mkdir -p shipped/kernels
NUMBA_CACHE_DIR="$PWD/shipped/kernels" PYTHONPATH=shipped spark-submit --master 'local[1]' "$job" --limit 20000 "$1" "$2.sample"
tar -C shipped -czf rollstat.tar.gz rollstat kernels

# Every executor unpacks the archive into its working folder, compiled kernels included.
PYTHONPATH=shipped spark-submit --master "$MASTER" \
  --archives rollstat.tar.gz#shipped --conf spark.executorEnv.PYTHONPATH=shipped \
  --conf spark.executorEnv.NUMBA_CACHE_DIR=shipped/kernels \
  "$job" "$1" "$2"
