"""What deployments do with the package: pickled functions, other users, containers, interrupts."""
