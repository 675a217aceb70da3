"""The pages of the service: what the listing gives them, and their protection."""
