"""The median of an image

A median filter of 5 × 5 pixels removes noise and keeps edges. The window has two lengths and slides along
two axes. At the edges of the image, ``min_periods=1`` takes the median of the pixels inside the image.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import rollstat

SIZE = 5

photo = load_sample_image("china.jpg").mean(axis=2)[:240, 120:440]
rng = np.random.default_rng(0)
noisy = np.where(rng.random(photo.shape) < 0.2, rng.choice([0.0, 255.0], photo.shape), photo)

median = rollstat.rolling_median(noisy, (SIZE, SIZE), axis=(0, 1), center=True, min_periods=1)

figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained")
for axis, image, title in zip(axes, (photo, noisy, median), ("photo", "noisy", "median of 5 × 5")):
    axis.imshow(image, cmap="gray", vmin=0, vmax=255)
    axis.set_title(title)
    axis.axis("off")
