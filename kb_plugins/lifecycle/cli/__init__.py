"""The commands of the lifecycle, under `kb` and under `majordomus`: parse, call, print."""
