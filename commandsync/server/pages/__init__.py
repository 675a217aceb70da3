"""The pages of the service: what people see of a listing, beside the interface for programs."""
