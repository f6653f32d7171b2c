"""The panels, forms and explorers people see: ipywidgets live here and nowhere else."""
