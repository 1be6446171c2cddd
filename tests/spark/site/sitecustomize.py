"""Let the workers of test sessions import the installed pyspark, which has bytecode.

Spark puts archives without bytecode first in the path, and gives some workers ten seconds to start, which no
setting changes. From an archive a worker takes four times as long, which is too long on a busy machine.
"""

import sys

sys.path.sort(key=lambda entry: entry.endswith(".zip"))
