"""Published studies: their tables in their own form, from a run or from a dataset."""
