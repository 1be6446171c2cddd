"""The median of an image

A median filter of 5 × 5 pixels removes noise and keeps edges. The windows of one row of the result cover
five rows of the image. Read column by column, these five rows are one series in which the window is 25
values wide and moves by five. So the ordinary rolling median computes the exact filter, line by line.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import rollstat

SIZE = 5

photo = load_sample_image("china.jpg").mean(axis=2)[:240, 120:440]
rng = np.random.default_rng(0)
noisy = np.where(rng.random(photo.shape) < 0.2, rng.choice([0.0, 255.0], photo.shape), photo)

rows = np.lib.stride_tricks.sliding_window_view(noisy, SIZE, axis=0)  # (236, 320, 5)
strips = rows.reshape(len(rows), -1)  # five rows of the image, column by column
median = rollstat.rolling_median(strips, SIZE * SIZE)[:, SIZE * SIZE - 1 :: SIZE]

figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained")
for axis, image, title in zip(axes, (photo, noisy, median), ("photo", "noisy", "median of 5 × 5")):
    axis.imshow(image, cmap="gray", vmin=0, vmax=255)
    axis.set_title(title)
    axis.axis("off")
