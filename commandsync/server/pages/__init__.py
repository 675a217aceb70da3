"""The pages of the service: what people see of a listing in a browser, beside the interface."""
