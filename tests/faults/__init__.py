"""The proof of the promise in full: `make faults`."""
