"""Beyond one machine: training as a job on rented hardware."""
