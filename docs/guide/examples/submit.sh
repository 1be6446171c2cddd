#!/bin/sh
# submit.sh READINGS RESULT: run spark_job.py on the cluster MASTER,
# with the installed rollstat and its compiled kernels.
set -eu
job=$(dirname "$0")/spark_job.py
export PYSPARK_PYTHON="${PYSPARK_PYTHON:-python3}"
mkdir -p shipped
cp -R "$("$PYSPARK_PYTHON" -c 'import os, rollstat; print(os.path.dirname(rollstat.__file__))')" shipped/
tar -C shipped --exclude __pycache__ -czf rollstat.tar.gz rollstat

# Every executor unpacks the archive into its working folder.
spark-submit --master "$MASTER" \
  --archives rollstat.tar.gz#shipped --conf spark.executorEnv.PYTHONPATH=shipped \
  "$job" "$1" "$2"
